/** What the page's script is given: shared between the report and the page, hence without any import. */

/** One build on one case. Columns of equal length; seconds since the arm began. */
export interface ArmData {
  /** Its place among the builds. */
  readonly build: number;
  readonly seconds: readonly number[];
  readonly registered: readonly (number | null)[];
  readonly expectedMin: readonly (number | null)[];
  readonly expectedMax: readonly (number | null)[];
  readonly identityDrift: readonly (number | null)[];
  readonly memoryMib: readonly (number | null)[];
  readonly requests: readonly (number | null)[];
  readonly phases: readonly { readonly phase: string; readonly from: number; readonly to: number }[];
  readonly restarts: readonly number[];
  /** Kept (positive) or lost (negative) sessions where the case judges; null where they were not counted. */
  readonly drift: number | null;
}

export interface CaseData {
  readonly id: string;
  readonly arms: readonly ArmData[];
}

export interface BuildData {
  readonly name: string;
  /** As short as it can be among the others: it stands beside a line. */
  readonly label: string;
  /** Drawn from the beginning; the others once they are asked for. */
  readonly shown: boolean;
}

export interface PageData {
  readonly builds: readonly BuildData[];
  readonly cases: readonly CaseData[];
}

/** /data.json of a page that is served while the run goes on. */
export interface LiveData {
  readonly title: string;
  readonly running: boolean;
  readonly data: PageData;
  /** HTML of the page's parts by their ids, in their order. */
  readonly parts: Readonly<Record<string, string>>;
  /** HTML of the navigation. */
  readonly navigation: string;
  /** The report as JSON, for the download. */
  readonly report: unknown;
}
