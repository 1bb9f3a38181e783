/**
 * What a policy decides on: which actor does what. Effects are declared at the capability (file system, network, secrets, registry),
 * and by the call path for calls that leave the service, so that no spelling of a call avoids the policy. `policy/judge.ts` decides.
 */
import type { Taint } from './taint.ts';

/**
 * `tool`: canonical. `chain`: the tools that called it, outermost first; absent: none. `agent`: null if there is none. `key`: id. A
 * denial or approval rule for a tool also covers the tools that it calls; permission is granted only to the tool itself.
 */
export type Actor = { tool: string; chain?: readonly string[]; agent: string | null; key: string };

export type Effect =
  /** A tool call, with what its annotations declare, if they apply. null: decided at the capabilities that the tool uses. */
  | { kind: 'call'; does: 'read' | 'write' | 'destroy' | null; trusted: boolean; sends: boolean }
  | { kind: 'read-file'; path: string }
  /**
   * `overwrite`: content is lost. `attributes`: the content does not change. `move-away`: the content moves to another path. `own`:
   * the content is produced by the session, not by the caller.
   */
  | { kind: 'write-file'; path: string; change: 'create' | 'append' | 'overwrite' | 'attributes' | 'move-away'; own: boolean }
  | { kind: 'delete-file'; path: string }
  /** `host` as returned by `requestHost`, `method` in capitals. */
  | { kind: 'network'; host: string; method: string }
  | { kind: 'secret'; name: string }
  | { kind: 'registry'; change: 'create-tool' | 'share-tool' | 'replace-tool' | 'write-toolset' | 'delete-toolset'; name: string };

/**
 * Further input of the decision. `taint`: null if the taint rule does not apply. `taintRule`: true if it applies whatever the
 * policy's `taint` says.
 */
export type Circumstances = { actor: Actor; taint: Taint | null; taintRule?: boolean };
