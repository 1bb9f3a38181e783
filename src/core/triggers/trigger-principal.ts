/** As whom the turns of a trigger run: as a key that is no key, which may use the agent of its trigger and nothing else. */
import type { Principal } from '../principal.ts';
import type { Trigger } from './delivery.ts';

/** Ids of keys hold no colon, so none of them is ever one of these. */
export function triggerKeyId({ kind, name }: Trigger): string {
  return `${kind}:${name}`;
}

/** null: it is the id of a key. */
export function triggerOfKey(id: string): Trigger | null {
  const [kind, name, ...rest] = id.split(':');
  if (rest.length > 0 || name === undefined || (kind !== 'webhook' && kind !== 'schedule')) return null;
  return { kind, name };
}

/** Owns the sessions of the trigger: other keys see them as far as they are `admin`, and decide in them where they may approve. */
export function triggerPrincipal(workspace: string, trigger: Trigger, agent: string): Principal {
  return { workspace, keyId: triggerKeyId(trigger), scopes: ['chat', 'tools'], agents: [agent] };
}
