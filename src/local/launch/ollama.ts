/** Probes once, briefly, for an Ollama on this machine, so that its models are available without settings. */

/** The user waits for this at every start; a running Ollama responds within a few milliseconds. */
const probeTimeoutMs = 300;
const defaultPort = '11434';

/** Returns `host:port` of a responding Ollama, or null. `setting`: `OLLAMA_HOST`, in any form that Ollama accepts. */
export async function findOllama(setting: string | undefined): Promise<string | null> {
  const host = ollamaAddress(setting);
  if (host === null) return null;
  try {
    const response = await fetch(`http://${host}/api/version`, { signal: AbortSignal.timeout(probeTimeoutMs), redirect: 'error' });
    const version: unknown = response.ok ? await response.json() : null;
    return typeof version === 'object' && version !== null && 'version' in version ? host : null;
  } catch {
    // No server, a timeout, or not an Ollama: treated as absent.
    return null;
  }
}

/** Converts `0.0.0.0`, `host`, `host:port` and URLs to `host:port`; returns null if the setting cannot be parsed. */
export function ollamaAddress(setting: string | undefined): string | null {
  const text = setting?.trim() || `127.0.0.1:${defaultPort}`;
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === '') return null;
  // A server's bind address is not an address for clients.
  const hostname = url.hostname === '0.0.0.0' || url.hostname === '[::]' ? '127.0.0.1' : url.hostname;
  return `${hostname}:${url.port || defaultPort}`;
}
