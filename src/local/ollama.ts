/** Looks once, briefly, for an Ollama on this machine, so that its models are offered without any setting. */

/** A person waits for this at every start; a running Ollama answers within a few milliseconds. */
const probeTimeoutMs = 300;
const defaultPort = '11434';

/** `host:port` of an Ollama that answers, or null. `setting`: `OLLAMA_HOST`, in any of the forms Ollama itself takes. */
export async function findOllama(setting: string | undefined): Promise<string | null> {
  const host = ollamaAddress(setting);
  if (host === null) return null;
  try {
    const response = await fetch(`http://${host}/api/version`, { signal: AbortSignal.timeout(probeTimeoutMs), redirect: 'error' });
    const version: unknown = response.ok ? await response.json() : null;
    return typeof version === 'object' && version !== null && 'version' in version ? host : null;
  } catch {
    // Nothing listens there, or not in time, or it is no Ollama: there is none then.
    return null;
  }
}

/** `0.0.0.0`, `host`, `host:port` and URLs become `host:port`; null for what cannot be read. */
export function ollamaAddress(setting: string | undefined): string | null {
  const text = setting?.trim() || `127.0.0.1:${defaultPort}`;
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === '') return null;
  // What a server binds to is not what a client connects to.
  const hostname = url.hostname === '0.0.0.0' || url.hostname === '[::]' ? '127.0.0.1' : url.hostname;
  return `${hostname}:${url.port || defaultPort}`;
}
