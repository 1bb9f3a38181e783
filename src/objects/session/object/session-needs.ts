/** What a session uses of the service; `src/wiring/` provides it. */
import type { Settings } from '../../../core/people/settings.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import type { AliasMap } from '../../../core/toolset/alias-map.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import type { CallDeps } from '../../../engine/call/call-scope.ts';
import type { Pools } from '../../../engine/fair-pool.ts';
import type { MarkStore } from '../../../engine/policy/direct-marks.ts';
import type { ReadLoggedReply } from '../../../engine/replay/recorded-case.ts';
import type { TurnStorage } from '../../../engine/turn/memory-turn.ts';
import type { TurnDeps } from '../../../engine/turn/run-turn.ts';
import type { AuditPort } from '../../../ports/audit.ts';
import type { CatalogCaller, CatalogPort } from '../../../ports/catalog.ts';
import type { Directory } from '../../../ports/directory.ts';
import type { Limiter } from '../../../ports/limiter.ts';
import type { Clock, Ids, Logger } from '../../../ports/runtime.ts';
import type { Sessions } from '../../../ports/session.ts';
import type { Triggers } from '../../../ports/triggers.ts';
import type { UsageReader, UsageRecorder } from '../../../ports/usage.ts';

export interface SessionNeeds {
  clock: Clock;
  ids: Ids;
  log: Logger;
  directory: Directory;
  catalog(caller: CatalogCaller): CatalogPort;
  /** The others: a fork is a session of its own. */
  sessions: Sessions;
  /** Ends the processes that commands have for the session. Never rejects. */
  sessionEnded(workspace: string, session: string): Promise<void>;
  audit(workspace: string): Pick<AuditPort, 'append'>;
  triggers(workspace: string): Pick<Triggers, 'noteTurns'>;
  recordUsage: UsageRecorder['record'];
  limiter: Limiter;
  pools: Pick<Pools, 'turns'>;
  /** Returns where the taint marks of a key's direct calls are stored. */
  marks(caller: { workspace: string; keyId: string }, toolset: string | null): MarkStore;
  callDeps(workspace: string): CallDeps;
  turnDeps(workspace: string): TurnDeps;
  /** `keyId`: the key of the session. */
  namesFor(workspace: string, plan: Plan, keyId: string): Promise<AliasMap | null>;
  rules: Directory['rules'];
  /** Returns the bodies of a plan's skills that still exist. */
  skillsFor(workspace: string, plan: Plan): Promise<Skill[]>;
  /** For replays. */
  turnStorage(): Promise<TurnStorage>;
  usage: UsageReader;
  readReply: ReadLoggedReply;
  settings: Pick<Settings, 'aliases'>;
}
