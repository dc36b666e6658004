/** What a run tells while it goes on, for a terminal. */
export type Progress =
  | { readonly kind: 'install'; readonly build: string; readonly text: string }
  | { readonly kind: 'stage'; readonly build: string; readonly case: string; readonly stage: string }
  | {
      readonly kind: 'sample';
      readonly build: string;
      readonly case: string;
      readonly registered: number | null;
      readonly rssBytes: number | null;
      readonly requests: number;
    }
  | {
      readonly kind: 'arm-end';
      readonly build: string;
      readonly case: string;
      readonly failure: string | null;
    };

export type OnProgress = (progress: Progress) => void;
