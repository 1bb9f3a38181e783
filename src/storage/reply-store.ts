/** Stores in KV what clients of translated replies do not resend (`engine/proxy/kept-replies.ts`), for an hour. */
import { sha256Hex } from '../core/hash.ts';
import { KB } from '../core/limits/units.ts';
import type { Principal } from '../core/principal.ts';
import type { KeptReplies } from '../engine/proxy/kept-replies.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { WaitUntil } from '../platform/background.ts';
import { systemClock } from '../platform/clock.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Sessions } from '../ports/session.ts';
import { kvKeys } from './keys.ts';

const keptSeconds = 3_600;
const maxKeptCharacters = 512 * KB;
const readTimeoutMs = 3_000;

type ReplyStoreDeps = { kv: KVNamespace; sessions: Pick<Sessions, 'get'>; log: Logger; background: WaitUntil };

/** Returns a function from a key to its replies. An error of KV is logged: the conversation continues without the data. */
export function createReplyStore(deps: ReplyStoreDeps): (principal: Principal) => KeptReplies {
  return (principal) => repliesOf(deps, principal);
}

function repliesOf({ kv, sessions, log, background }: ReplyStoreDeps, principal: Principal): KeptReplies {
  const { workspace, keyId } = principal;
  const keyOf = async (id: string): Promise<string> => kvKeys.reply(workspace, await sha256Hex(JSON.stringify([keyId, id])));
  const failed = (error: unknown): null => {
    log.error('a reply could not be stored or read', { error: String(error) });
    return null;
  };
  return {
    put(id, text) {
      if (text.length > maxKeptCharacters) return;
      background(
        keyOf(id)
          .then((key) => kv.put(key, text, { expirationTtl: keptSeconds }))
          .catch(failed),
      );
    },
    async get(id) {
      const read = keyOf(id).then((key) => kv.get(key));
      return await withTimeout(systemClock, read, readTimeoutMs, () => null).catch(failed);
    },
    async answer({ session, own }) {
      const read = sessions
        .get(session)
        .completion(principal, own, { streamed: false })
        .then((document) => new Response(document).text());
      // Unknown, of another key, or of a failed turn: the caller learns that the items are not stored.
      return await withTimeout(systemClock, read, readTimeoutMs, () => null).catch(() => null);
    },
  };
}
