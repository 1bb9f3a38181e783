/**
 * Marks of the taint rule for calls outside a conversation: consecutive calls of one client form a conversation all the same. The marks
 * belong to a key with one toolset, or to an MCP session, and are stored with a lifetime (`directMarksMs`).
 */
import { callsTools } from '../../core/tools/composite-tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { callEffect } from '../../core/policy/effects/call.ts';
import {
  createTaintMarks,
  joinTaint,
  originOfServer,
  type Taint,
  type TaintMarks,
  unknownTaint,
  untainted,
} from '../../core/policy/taint.ts';
import type { Principal } from '../../core/principal.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { CatalogPort, StoredMarks } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { errorResult } from '../../core/tools/tool.ts';
import { isServerTool } from '../call/server-state.ts';
import type { CallOutcome } from '../call/tool-call.ts';
import { hasCredentials } from './mark-taint.ts';

/** Marks of the direct calls of a key with one toolset, after the last call that added a mark. */
const directMarksMs = 24 * 60 * 60_000;
/** Existing marks are not written again within this time, so they may last up to this much longer. */
const directMarksRefreshMs = 60 * 60_000;

/** `read`: returns null when there are no marks. `add`: joins the marks to the stored ones, durably. */
export type MarkStore = { read(): Promise<StoredMarks | null>; add(taint: Taint): Promise<void> };

/** `toolset`: without its version; null for a key that has none equipped. */
export function createMarkStore(
  catalog: Pick<CatalogPort, 'taintMarks' | 'addTaintMarks'>,
  keyId: string,
  toolset: string | null,
): MarkStore {
  const names = [`direct ${JSON.stringify([keyId, toolset])}`];
  return {
    read: async () => (await catalog.taintMarks(names))[0] ?? null,
    add: (taint) => catalog.addTaintMarks({ names, taint, ttlMs: directMarksMs }),
  };
}

/** Returns the store of a key's marks in its workspace. */
export function marksIn(catalog: (workspace: string) => Pick<CatalogPort, 'taintMarks' | 'addTaintMarks'>) {
  return ({ workspace, keyId }: Pick<Principal, 'workspace' | 'keyId'>, toolset: string | null): MarkStore =>
    createMarkStore(catalog(workspace), keyId, toolset);
}

/** `settle`: stores the marks that a call added, and returns what its caller may see. */
export type OpenMarks = { taint: TaintMarks; settle<Outcome extends CallOutcome>(outcome: Outcome): Promise<Outcome | Answered> };

type Answered = Extract<CallOutcome, { answer: unknown }>;

/** Reads marks only for a tool that may send data. Marks that were not or could not be read count as both labels. */
export async function openMarks(
  store: MarkStore,
  { clock, log }: { clock: Clock; log: Logger },
  tool: EditionTool | null,
): Promise<OpenMarks> {
  const stored = tool !== null && maySend(tool) ? await readMarks(store, log) : unread;
  const before = stored?.taint ?? untainted;
  const own = createTaintMarks();
  return {
    taint: { read: () => joinTaint(before, own.read()), mark: own.mark },
    async settle(outcome) {
      const added = own.read();
      if (added === untainted) return outcome;
      const isFresh = (stored?.expiresAt ?? 0) - clock.now() > directMarksMs - directMarksRefreshMs;
      if (isFresh && joinTaint(before, added) === before) return outcome;
      try {
        await store.add(added);
        return outcome;
      } catch (error) {
        if (!('answer' in outcome) || !outcome.answer.ran) throw error;
        log.error('marks of a direct call could not be stored; its result is withheld', { cause: String(error) });
        return { answer: { ...outcome.answer, result: withheld } };
      }
    },
  };
}

/** Returned as a result instead of a failed request: the caller would retry the call, which already had its effect. */
const withheld = errorResult(
  'outcome_unknown',
  'The call ran, but its result cannot be shown: the service could not record that this client has received it. Check before you repeat a call that changes something.',
);

/** Marks a server's response that is not a tool result: a resource or a prompt. */
export async function markServerResponse(store: MarkStore, server: ServerAccess, source: string): Promise<void> {
  const isPrivate = hasCredentials(server);
  if (!isPrivate && server.trusted) return;
  await store.add({
    private: isPrivate ? source : null,
    untrusted: server.trusted ? null : source,
    ...(isPrivate && { origin: originOfServer(server.name) }),
  });
}

const unread: StoredMarks = { taint: unknownTaint('the results of other calls of this key, which could not be read'), expiresAt: 0 };

async function readMarks(store: MarkStore, log: Logger): Promise<StoredMarks | null> {
  try {
    return await store.read();
  } catch (error) {
    log.error('marks of direct calls could not be read; they count as both labels', { cause: String(error) });
    return unread;
  }
}

/** Returns false for trusted, read-only tools of servers. If such a server loses its trust, the marks count as both labels (`unread`). */
function maySend(tool: EditionTool): boolean {
  if (isServerTool(tool)) return callEffect(tool).sends;
  return tool.kind !== 'builtin' || tool.canonical === 'builtin.http_request' || callsTools(tool);
}
