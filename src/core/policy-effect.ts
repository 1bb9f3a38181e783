/**
 * What a policy judges: who would do what. Said at the capability (file system, network, secrets, registry) and at the door for calls that leave
 * the service, so that no spelling gets round it. `policy.ts` judges.
 */
import type { Taint } from './taint.ts';

/** `tool`: canonical. `agent`: null where there is none. `key`: id. */
export type Actor = { tool: string; agent: string | null; key: string };

export type Effect =
  /** A tool of a server or of this code base is called: what its hints and its name say that it does. */
  | { kind: 'call'; does: 'read' | 'write' | 'destroy'; trusted: boolean; sends: boolean }
  | { kind: 'read-file'; path: string }
  /** `overwrite`: content is lost. `own`: the session made the file. */
  | { kind: 'write-file'; path: string; change: 'create' | 'append' | 'overwrite' | 'attributes'; own: boolean }
  | { kind: 'delete-file'; path: string }
  /** `host` as `requestHost` has it, `method` in capitals. */
  | { kind: 'network'; host: string; method: string }
  | { kind: 'secret'; name: string }
  | { kind: 'registry'; change: 'create-tool' | 'replace-tool' | 'write-toolset' | 'delete-toolset'; name: string };

/** What else the judgement goes by. */
export type Circumstances = { actor: Actor; taint: Taint | null };
