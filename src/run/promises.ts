/**
 * Which claims a target can be asked in a case, and why not the others: decided before the case is played.
 */
import type { Case, CaseSettings } from '../cases/case.ts';
import type { ArmRecord, BuildRecord } from '../recording/schema.ts';
import type { KnownSettings } from '../targets/target.ts';
import { claimOf } from '../verdict/claims/index.ts';

/** An idle timeout longer than this is not waited for. */
const LONGEST_WAIT_SECONDS = 10;
/** A cap higher than this is not filled. */
const HIGHEST_CAP = 1000;

/** Why a target with no sessions is not asked what only sessions can answer. */
const STATELESS = 'This target is stateless: it keeps no sessions that could expire or be capped.';

export interface ArmPlan {
  /** What to hand to the build when it starts. */
  readonly wanted: CaseSettings;
  readonly lacks: ArmRecord['lacks'];
  readonly stateless: boolean;
}

type Abilities = Pick<BuildRecord, 'kind' | 'abilities' | 'config'>;

/** The settings of a case that this build can be given; a package that lacks one is started without it. */
export function planSettings(definition: Case, build: Abilities): ArmPlan {
  const can = new Set(build.abilities.settings);
  const { idleTimeoutSeconds, maxSessions } = definition.settings;
  const lacks: ArmRecord['lacks'] = [];
  // Only of a package do we know that what we cannot set is not there.
  const stateless = build.config.stateless === true;
  const absent = build.kind === 'python' && !stateless;
  if (absent && idleTimeoutSeconds !== undefined && !can.has('idleTimeout')) lacks.push('idleTimeout');
  if (absent && maxSessions !== undefined && !can.has('maxSessions')) lacks.push('maxSessions');
  return {
    lacks,
    stateless,
    wanted: {
      ...(idleTimeoutSeconds !== undefined && can.has('idleTimeout') && { idleTimeoutSeconds }),
      ...(maxSessions !== undefined && can.has('maxSessions') && { maxSessions }),
    },
  };
}

/** Why a case cannot be played on a target at all, or null. */
export function obstacle(definition: Case, plan: ArmPlan, known: KnownSettings): string | null {
  if (plan.stateless && definition.needs.length > 0) return STATELESS;
  if (definition.needs.includes('idle-timeout')) {
    const idle = plan.wanted.idleTimeoutSeconds ?? known.idleTimeoutSeconds;
    if (plan.lacks.includes('idleTimeout')) return 'This build has no idle timeout setting.';
    if (idle === null) return 'This target has no idle timeout.';
    if (idle === undefined)
      return 'The idle timeout of this target is not known: tell how to set it (settings.idleTimeout) or what it is (declared.idleTimeout) in mcp-retention.yaml.';
    if (idle > LONGEST_WAIT_SECONDS)
      return `The idle timeout of this target is ${idle} s, and the case waits at most ${LONGEST_WAIT_SECONDS} s: tell how to set it (settings.idleTimeout) in mcp-retention.yaml.`;
  }
  if (definition.needs.includes('max-sessions') && !plan.lacks.includes('maxSessions')) {
    const cap = plan.wanted.maxSessions ?? known.maxSessions;
    if (cap === undefined)
      return 'The cap of this target is not known: tell how to set it (settings.maxSessions) or what it is (declared.maxSessions) in mcp-retention.yaml.';
    if (cap !== null && cap > HIGHEST_CAP)
      return `The cap of this target is ${cap}, and the case fills at most ${HIGHEST_CAP}: tell how to set it (settings.maxSessions) in mcp-retention.yaml.`;
  }
  return null;
}

/** Splits the claims of a case into those promised and those that cannot be asked, each with its reason. */
export function promise(
  definition: Case,
  plan: ArmPlan,
  known: KnownSettings,
  build: Abilities,
  requireProbe: boolean,
): Pick<ArmRecord, 'promised' | 'notPromised'> {
  const blocked = obstacle(definition, plan, known);
  const promised: string[] = [];
  const notPromised: ArmRecord['notPromised'] = [];
  for (const claim of definition.claims) {
    const reason = blocked ?? missingNeed(claim, plan, known, build.abilities.probe || requireProbe);
    if (reason === null) promised.push(claim);
    else notPromised.push({ claim, reason });
  }
  return { promised, notPromised };
}

function missingNeed(claim: string, plan: ArmPlan, known: KnownSettings, probe: boolean): string | null {
  const { needs } = claimOf(claim);
  if (needs.includes('probe') && !probe)
    return 'No probe is attached, so the registry cannot be counted: see mcp-retention probe python.';
  const declared = known.idleTimeoutSeconds !== undefined || known.maxSessions !== undefined;
  if (needs.includes('known-settings') && !declared && (!probe || known.untold === true))
    return 'Neither a probe nor the configuration tells the idle timeout and the cap: declare them in mcp-retention.yaml.';
  const cap = plan.wanted.maxSessions ?? known.maxSessions;
  if (needs.includes('cap') && (plan.lacks.includes('maxSessions') || cap == null))
    return 'This build has no session cap.';
  return null;
}
