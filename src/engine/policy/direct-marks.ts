/**
 * Marks of the taint rule for calls outside a conversation: consecutive calls of one client form a conversation all the same. The marks
 * belong to a key with one toolset, or to an MCP session, and are stored with a lifetime (`directMarksMs`).
 */
import { callsTools } from '../../core/toolset/composite-tool.ts';
import { type EditionTool, targetTools } from '../../core/toolset/edition-tool.ts';
import { callEffect } from '../../core/policy/effects/call.ts';
import { createTaintMarks, isTainted, joinTaint, type Taint, type TaintMarks, unknownTaint, untainted } from '../../core/policy/taint.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { CatalogPort, StoredMarks } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { errorResult } from '../../core/tools/tool.ts';
import { isServerTool } from '../call/server-state.ts';
import type { CallOutcome } from '../call/tool-call.ts';

/** Marks of the direct calls of a key with one toolset, after the last call that added a mark. */
const directMarksMs = 24 * 60 * 60_000;
/** Existing marks are not written again within this time, so they may last up to this much longer. */
const directMarksRefreshMs = 60 * 60_000;

/**
 * `read`: returns null when there are no marks. `add`: joins the marks to the stored ones, durably. `known`: marks that are stored, without
 * reading them; further ones may exist.
 */
export type MarkStore = { read(): Promise<StoredMarks | null>; add(taint: Taint): Promise<void>; known(): StoredMarks | null };

/** Marks that are stored in a Catalog, by the name of their store. Marks are never removed before they expire. */
type MarkMemory = Map<string, StoredMarks>;

/** `toolset`: without its version; null for a key that has none equipped. */
function createMarkStore(
  catalog: Pick<CatalogPort, 'taintMarks' | 'addTaintMarks'>,
  { clock, memory }: { clock: Clock; memory: MarkMemory },
  { workspace, keyId }: Pick<Principal, 'workspace' | 'keyId'>,
  toolset: string | null,
): MarkStore {
  const names = [`direct ${JSON.stringify([keyId, toolset])}`];
  const key = `${workspace} ${names[0]}`;
  const known = (): StoredMarks | null => {
    const marks = memory.get(key);
    return marks === undefined || marks.expiresAt <= clock.now() ? null : marks;
  };
  const note = (marks: StoredMarks): void => {
    if (memory.size >= limits.maxCachedNames) memory.clear();
    memory.set(key, marks);
  };
  return {
    known,
    read: async () => {
      const before = known();
      // Nothing can be added to these marks.
      if (before !== null && isTainted(before.taint) && before.taint.origin === undefined) return before;
      const stored = (await catalog.taintMarks(names))[0] ?? null;
      if (stored !== null) note(stored);
      return stored;
    },
    add: async (taint) => {
      const expiresAt = clock.now() + directMarksMs;
      await catalog.addTaintMarks({ names, taint, ttlMs: directMarksMs });
      note({ taint: joinTaint(known()?.taint ?? untainted, taint), expiresAt });
    },
  };
}

/** Returns the store of a key's marks in its workspace. */
export function marksIn(catalog: (workspace: string) => Pick<CatalogPort, 'taintMarks' | 'addTaintMarks'>, clock: Clock) {
  const memory: MarkMemory = new Map();
  return (owner: Pick<Principal, 'workspace' | 'keyId'>, toolset: string | null): MarkStore =>
    createMarkStore(catalog(owner.workspace), { clock, memory }, owner, toolset);
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
      const known = store.known();
      const isFresh = known !== null && known.expiresAt - clock.now() > directMarksMs - directMarksRefreshMs;
      if (isFresh && joinTaint(known.taint, added) === known.taint) return outcome;
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

const unread: StoredMarks = { taint: unknownTaint('the results of other calls of this key, which could not be read'), expiresAt: 0 };

async function readMarks(store: MarkStore, log: Logger): Promise<StoredMarks | null> {
  try {
    return await store.read();
  } catch (error) {
    log.error('marks of direct calls could not be read; they count as both labels', { cause: String(error) });
    return unread;
  }
}

/**
 * Returns false for trusted, read-only tools of servers, and for tools in code that reach nothing outside. If such a server loses its trust,
 * the marks count as both labels (`unread`).
 */
function maySend(tool: EditionTool): boolean {
  if (isServerTool(tool)) return targetTools(tool).some((one) => callEffect(one).sends);
  if (callsTools(tool)) return true;
  if (tool.kind === 'local') return tool.annotations?.openWorldHint !== false;
  return tool.kind !== 'builtin' || tool.canonical === 'builtin.http_request';
}
