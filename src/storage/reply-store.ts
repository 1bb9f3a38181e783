/**
 * Stores in KV what clients of translated replies do not resend (`engine/proxy/kept-replies.ts`), for an hour. Plain replies that end within
 * a few milliseconds share a value, whose name begins their ids: a write to KV costs as much as the rest of a request.
 */
import { sha256Hex } from '../core/hash.ts';
import { recordOf, tryParse } from '../core/json/wire-value.ts';
import { KB, MB } from '../core/limits/units.ts';
import type { Principal } from '../core/people/principal.ts';
import type { KeptReplies } from '../engine/proxy/kept-replies.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { WaitUntil } from '../platform/background.ts';
import type { Clock, Ids, Logger } from '../ports/runtime.ts';
import type { Sessions } from '../ports/session.ts';
import { kvKeys } from './keys.ts';

const keptSeconds = 3_600;
const maxKeptCharacters = 512 * KB;
const readTimeoutMs = 3_000;
const batchMs = 5;
/** A batch that was not written by then belonged to a request that the runtime has ended. The next one writes it. */
const lateBatchMs = 1_000;
const maxBatchCharacters = 4 * MB;
/** Of an id, the rest of which is random too. */
const batchNameCharacters = 21;

type ReplyStoreDeps = { kv: KVNamespace; sessions: Pick<Sessions, 'get'>; log: Logger; background: WaitUntil; clock: Clock; ids: Ids };

/** Replies by key and id. `written`: settles when KV has them. */
type Batch = { name: string; since: number; replies: Map<string, string>; characters: number; written: Promise<void> };

/** Returns a function from a key to its replies. An error of KV is logged: the conversation continues without the data. */
export function createReplyStore(deps: ReplyStoreDeps): (principal: Principal) => KeptReplies {
  const batches = new Map<string, ReplyBatches>();
  return (principal) => {
    const { workspace } = principal;
    const own = batches.get(workspace) ?? new ReplyBatches(deps, workspace);
    batches.set(workspace, own);
    return repliesOf(deps, principal, own);
  };
}

function repliesOf(
  { kv, sessions, log, background, clock, ids }: ReplyStoreDeps,
  principal: Principal,
  batches: ReplyBatches,
): KeptReplies {
  const { workspace, keyId } = principal;
  const keyOf = async (id: string): Promise<string> => kvKeys.reply(workspace, await sha256Hex(JSON.stringify([keyId, id])));
  const failed = (error: unknown): null => {
    log.error('a reply could not be stored or read', { error: String(error) });
    return null;
  };
  return {
    nextId: () => batches.current().name + ids.next('cmpl').slice(batchNameCharacters),
    put(id, text) {
      if (text.length > maxKeptCharacters || batches.put(keyId, id, text)) return;
      background(
        keyOf(id)
          .then((key) => kv.put(key, text, { expirationTtl: keptSeconds }))
          .catch(failed),
      );
    },
    async get(id) {
      const alone = keyOf(id).then((key) => kv.get(key));
      const read = Promise.all([alone, batches.get(keyId, id)]).then(([text, shared]) => text ?? shared);
      return await withTimeout(clock, read, readTimeoutMs, () => null).catch(failed);
    },
    async answer({ session, own }) {
      const read = sessions
        .get(session)
        .completion(principal, own, { streamed: false })
        .then((document) => new Response(document).text());
      // Unknown, of another key, or of a failed turn: the caller learns that the items are not stored.
      return await withTimeout(clock, read, readTimeoutMs, () => null).catch(() => null);
    },
  };
}

/** The batches of one workspace in this isolate. */
class ReplyBatches {
  readonly #deps: ReplyStoreDeps;
  readonly #workspace: string;
  #open: Batch | null = null;
  readonly #unwritten = new Map<string, Batch>();

  constructor(deps: ReplyStoreDeps, workspace: string) {
    this.#deps = deps;
    this.#workspace = workspace;
  }

  current(): Batch {
    const { clock, ids, background } = this.#deps;
    const late = this.#open !== null && clock.now() - this.#open.since > lateBatchMs ? this.#open : null;
    if (late !== null) background(this.#write(late));
    if (this.#open !== null) return this.#open;
    const name = ids.next('cmpl').slice(0, batchNameCharacters);
    const batch: Batch = { name, since: clock.now(), replies: new Map(), characters: 0, written: Promise.resolve() };
    batch.written = clock.sleep(batchMs).then(() => this.#write(batch));
    background(batch.written);
    this.#open = batch;
    this.#unwritten.set(name, batch);
    return batch;
  }

  /** Returns false if the id is not of the open batch. */
  put(keyId: string, id: string, text: string): boolean {
    const batch = this.#open;
    if (batch === null || !id.startsWith(batch.name)) return false;
    batch.replies.set(`${keyId} ${id}`, text);
    batch.characters += text.length;
    if (batch.characters > maxBatchCharacters) this.#open = null;
    this.#deps.background(batch.written);
    return true;
  }

  async get(keyId: string, id: string): Promise<string | null> {
    const name = id.slice(0, batchNameCharacters);
    const batch = this.#unwritten.get(name);
    if (batch !== undefined) return batch.replies.get(`${keyId} ${id}`) ?? null;
    const text = id.startsWith('cmpl_') ? await this.#deps.kv.get(await this.#keyOf(name)) : null;
    const found = text === null ? undefined : recordOf(tryParse(text))[`${keyId} ${id}`];
    return typeof found === 'string' ? found : null;
  }

  /** Never throws. */
  async #write(batch: Batch): Promise<void> {
    const { kv, log } = this.#deps;
    if (this.#open === batch) this.#open = null;
    try {
      const text = JSON.stringify(Object.fromEntries(batch.replies));
      if (batch.replies.size > 0) await kv.put(await this.#keyOf(batch.name), text, { expirationTtl: keptSeconds });
    } catch (error) {
      log.error('replies could not be stored', { replies: batch.replies.size, error: String(error) });
    } finally {
      this.#unwritten.delete(batch.name);
    }
  }

  async #keyOf(name: string): Promise<string> {
    return kvKeys.reply(this.#workspace, await sha256Hex(JSON.stringify(['batch', name])));
  }
}
