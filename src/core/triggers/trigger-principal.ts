/** The principal of a trigger's turns: a synthetic key that may use the trigger's agent and nothing else. */
import type { Principal } from '../people/principal.ts';
import type { Trigger } from '../turn/turn-trigger.ts';

/** Contains a colon, so it never equals the id of a real key. */
export function triggerKeyId({ kind, name }: Trigger): string {
  return `${kind}:${name}`;
}

/** null: the id belongs to a key. */
export function triggerOfKey(id: string): Trigger | null {
  const [kind, name, ...rest] = id.split(':');
  if (rest.length > 0 || name === undefined || (kind !== 'webhook' && kind !== 'schedule')) return null;
  return { kind, name };
}

/** Owns the trigger's sessions. Other keys can read them with `admin`, and decide approvals in them if they may approve. */
export function triggerPrincipal(workspace: string, trigger: Trigger, agent: string): Principal {
  return { workspace, keyId: triggerKeyId(trigger), scopes: ['chat', 'tools'], agents: [agent] };
}
