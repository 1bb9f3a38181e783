/**
 * Ids of files and batches at a provider. All keys of a workspace share the account of a provider, so an id that a key gets is signed for it and
 * names its provider: no other key can use it, and no provider has to be named with it.
 */
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import type { ProxiedChat } from '../../engine/proxy/translate-chat.ts';

/** Signs JSON for a workspace; `open` returns null for what was not signed here. */
export type IdSeal = {
  seal(workspace: string, value: object): Promise<string>;
  open(workspace: string, text: string): Promise<Record<string, unknown> | null>;
};

type ProviderId = { provider: string; id: string };

/** Returns an id for the key, with the beginning that the provider's id has, such as `file-`. */
export async function sealId(seal: IdSeal, { workspace, keyId }: Principal, { provider, id }: ProviderId): Promise<string> {
  return `${idPrefix.exec(id)?.[0] ?? ''}${await seal.seal(workspace, { provider, id, key: keyId })}`;
}

/** Throws `not_found` for the id of another key, and for one that was not made here. */
export async function openId(
  seal: IdSeal,
  { workspace, keyId }: Principal,
  given: string,
  param?: string,
): Promise<{ provider: string; id: string }> {
  const opened = given.length > maxIdLength ? null : await seal.open(workspace, given.replace(idPrefix, ''));
  const { provider, id, key } = opened ?? {};
  if (typeof provider === 'string' && typeof id === 'string' && key === keyId) return { provider, id };
  const detail = `${quoted(given)} does not exist for this key: it can use the ids that it got here itself, not those of a provider or of another key.`;
  throw new Problem('not_found', detail, param === undefined ? {} : { param });
}

/** Returns a chat with the provider's ids in place of those of this key. Throws for ids of another key or provider. */
export async function withProviderIds(
  seal: IdSeal,
  principal: Principal,
  { text = '', ...chat }: ProxiedChat,
  provider: string,
): Promise<ProxiedChat> {
  const given = [...new Set(text.match(signedIds))];
  if (given.length > maxIdsOfChat) throw invalidRequest([{ path: '', message: `names more than ${maxIdsOfChat} files` }]);
  const ids = new Map<string, string>();
  for (const quotedId of given) {
    const found = await openId(seal, principal, quotedId.slice(1, -1), 'file_id');
    if (found.provider !== provider)
      throw invalidRequest([{ path: 'file_id', message: `is a file of ${quoted(found.provider)}: upload it to ${quoted(provider)}` }]);
    ids.set(quotedId, JSON.stringify(found.id));
  }
  const sent = text.replaceAll(signedIds, (quotedId) => ids.get(quotedId) ?? quotedId);
  // The same members as before.
  return { ...chat, text: sent, body: JSON.parse(sent) as ProxiedChat['body'] };
}

/** A JSON text that is an id; within a longer text its quotes are escaped. */
const signedIds = /"file-eyJ[\w.-]{1,1024}"/g;
const maxIdsOfChat = 64;

const idPrefix = /^[a-z]+[-_]/;
const maxIdLength = 1_024;
