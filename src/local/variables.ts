/** The Worker's text bindings on this machine: the operator's settings, the keys, and detected services. */
import type { Keys } from './keys.ts';
import type { LocalEnvironment } from './environment.ts';

export function workerVariables(
  local: LocalEnvironment,
  keys: Pick<Keys, 'rootKey' | 'masterKey'>,
  url: string,
  ollama: string | null,
): Record<string, string> {
  const allowed = local.settings.MONIKER_ALLOW_PRIVATE_HOSTS;
  return {
    MONIKER_PUBLIC_URL: url,
    ...local.settings,
    MONIKER_LOCAL_URL: url,
    MONIKER_ROOT_KEY: keys.rootKey,
    MONIKER_MASTER_KEY: keys.masterKey,
    MONIKER_CLOSE_AFTER_DELETE: 'on',
    ...(ollama !== null && {
      MONIKER_OLLAMA_URL: `http://${ollama}`,
      // Its address is private; only providers may reach it, not tools.
      MONIKER_ALLOW_PRIVATE_HOSTS: [allowed, `providers:${ollama}`].filter(Boolean).join(','),
    }),
  };
}
