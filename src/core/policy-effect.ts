/**
 * What a policy judges: who would do what. Said at the capability (file system, network, secrets, registry) and at the door for calls that leave
 * the service, so that no spelling gets round it. `policy/judge.ts` judges.
 */
import type { Taint } from './taint.ts';

/**
 * `tool`: canonical. `chain`: the tools that called it, the outermost first; absent: none. `agent`: null where there is none. `key`: id.
 * What is denied or asked about for a tool holds for what it calls, too; what is allowed is allowed to the tool that does it.
 */
export type Actor = { tool: string; chain?: readonly string[]; agent: string | null; key: string };

export type Effect =
  /** A tool is called: what its annotations say, where they count. null: judged at the capabilities that the tool uses. */
  | { kind: 'call'; does: 'read' | 'write' | 'destroy' | null; trusted: boolean; sends: boolean }
  | { kind: 'read-file'; path: string }
  /**
   * `overwrite`: content is lost. `attributes`: no content changes. `move-away`: it is somewhere else then. `own`: its content is the
   * session's, not the caller's.
   */
  | { kind: 'write-file'; path: string; change: 'create' | 'append' | 'overwrite' | 'attributes' | 'move-away'; own: boolean }
  | { kind: 'delete-file'; path: string }
  /** `host` as `requestHost` has it, `method` in capitals. */
  | { kind: 'network'; host: string; method: string }
  | { kind: 'secret'; name: string }
  | { kind: 'registry'; change: 'create-tool' | 'share-tool' | 'replace-tool' | 'write-toolset' | 'delete-toolset'; name: string };

/**
 * What else the judgement goes by. `taint`: null where the taint rule does not hold. `taintRule`: true where it holds whatever the policy's
 * `taint` says.
 */
export type Circumstances = { actor: Actor; taint: Taint | null; taintRule?: boolean };
