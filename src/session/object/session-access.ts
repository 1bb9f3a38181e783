/** Who may use an open session. For all other callers it does not exist. */
import { isAllowed } from '../../core/authority.ts';
import type { Principal } from '../../core/principal.ts';
import { Problem } from '../../core/problem.ts';
import { triggerOfKey } from '../../core/triggers/trigger-principal.ts';
import type { OpenSession } from './open-session.ts';

/** Returns the session for its owner and for unbound administrators of its workspace. */
export function enterSession(open: OpenSession | null, caller: Principal): OpenSession {
  const openSession = requireSession(open);
  const { workspace, keyId } = openSession.meta;
  if (caller.workspace !== workspace || !isAllowed(caller, { act: 'open-session', isOwn: caller.keyId === keyId })) throw unknownSession();
  return openSession;
}

/** Like `enterSession`; a session that a trigger created is also open to keys that approve for its agent. */
export function enterToDecide(open: OpenSession | null, caller: Principal): OpenSession {
  const openSession = requireSession(open);
  const { workspace, keyId, setup } = openSession.meta;
  const triggered = triggerOfKey(keyId) === null ? null : (setup.agent ?? null);
  const request = { act: 'decide-approval', isOwn: caller.keyId === keyId, triggered } as const;
  if (caller.workspace !== workspace || !isAllowed(caller, request)) throw unknownSession();
  return openSession;
}

export function requireSession(open: OpenSession | null): OpenSession {
  if (open === null) throw unknownSession();
  return open;
}

export function unknownSession(): Problem {
  return new Problem('not_found', 'There is no such session.');
}
