/** The upstream of the tools: counts effects by name and records the idempotency key of each. */
import { createServer } from 'node:http';
import { listen } from './listen.ts';

/** `key`: of a callback, its id. */
export type Effect = { method: string; key: string | null };

export type Upstream = {
  /** The URL that a tool requests so that its effect is counted under `name`. */
  urlOf(name: string): string;
  /** In order of arrival. */
  effects(name: string): readonly Effect[];
  /** Names with this prefix that have had an effect. */
  namesUnder(prefix: string): string[];
  /** The effect happens at once; its response is delayed until the promise resolves. */
  hold(name: string, until: Promise<unknown>): void;
  /** The effect happens, and its connection is reset in place of a response. */
  breakOff(name: string): void;
  /** Resolves when the effect has happened this often. */
  had(name: string, times?: number): Promise<void>;
  close(): void;
};

export async function startUpstream(): Promise<Upstream> {
  const effects = new Map<string, Effect[]>();
  const held = new Map<string, Promise<unknown>>();
  const broken = new Set<string>();
  const watchers = new Set<() => void>();
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      const name = decodeURIComponent((request.url ?? '/').slice(1));
      const key = request.headers['idempotency-key'] ?? request.headers['webhook-id'];
      effects.set(name, [...(effects.get(name) ?? []), { method: request.method ?? '', key: typeof key === 'string' ? key : null }]);
      for (const watch of [...watchers]) watch();
      const answer = (): void => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.end(`effect of ${name}`);
      };
      if (broken.has(name)) return void request.socket.resetAndDestroy();
      void (held.get(name) ?? Promise.resolve()).then(answer);
    });
  });
  const port = await listen(server);
  return {
    urlOf: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
    effects: (name) => effects.get(name) ?? [],
    namesUnder: (prefix) => [...effects.keys()].filter((name) => name.startsWith(prefix)),
    breakOff: (name) => void broken.add(name),
    hold: (name, until) => void held.set(name, until),
    had: (name, times = 1) =>
      new Promise((resolve) => {
        const watch = (): void => {
          if ((effects.get(name)?.length ?? 0) < times) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
