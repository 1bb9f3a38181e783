/**
 * Receives every crash point that the crash build reaches. Lets all pass except the armed one, at which the session waits until it is
 * told to continue or to abort.
 */
import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

export type Armed = {
  /** Resolves when the requested number waits at the point. */
  reached: Promise<void>;
  /** Answers all that wait there, and lets later ones pass. */
  release(answer: 'go' | 'abort'): void;
};

export type Recorder = {
  url: string;
  /** `skip`: hits that pass first; `held`: how many must wait there before the point counts as reached. One point at a time is armed. */
  arm(session: string, point: string, options?: { skip?: number; held?: number }): Armed;
  hits(session: string, point: string): number;
  /** Resolves to true after this number of hits, to false after the time limit. */
  sees(session: string, point: string, count: number, timeoutMs: number): Promise<boolean>;
  /** How often the object of a session was created. */
  made(session: string): number;
  /** The generation of the code that last reported. */
  generation(): string | null;
  close(): void;
};

type Stand = { session: string; point: string; skip: number; held: number; standing: ServerResponse[]; reach: () => void };

export async function startRecorder(): Promise<Recorder> {
  const counts = new Map<string, number>();
  const watchers = new Set<() => void>();
  let generation: string | null = null;
  let armed: Stand | null = null;
  const countOf = (session: string, what: string): number => counts.get(`${session} ${what}`) ?? 0;

  const server = createServer((request, response) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://recorder');
    const point = pathname.slice(pathname.lastIndexOf('/') + 1);
    const session = searchParams.get('session') ?? '';
    generation = searchParams.get('generation');
    counts.set(`${session} ${point}`, countOf(session, point) + 1);
    for (const watch of [...watchers]) watch();
    if (armed === null || armed.point !== point || armed.session !== session) return void response.end('go');
    if (armed.skip > 0) {
      armed.skip -= 1;
      return void response.end('go');
    }
    armed.standing.push(response);
    if (armed.standing.length >= armed.held) armed.reach();
  });
  const port = await listen(server);

  return {
    url: `http://127.0.0.1:${port}`,
    arm: (session, point, { skip = 0, held = 1 } = {}) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const mine: Stand = { session, point, skip, held, standing: [], reach: resolve };
      armed = mine;
      return {
        reached: promise,
        release: (answer) => {
          if (armed === mine) armed = null;
          for (const response of mine.standing.splice(0)) response.end(answer);
        },
      };
    },
    hits: countOf,
    sees: (session, point, count, timeoutMs) =>
      new Promise((resolve) => {
        const settle = (seen: boolean): void => {
          clearTimeout(timer);
          watchers.delete(watch);
          resolve(seen);
        };
        const watch = (): void => {
          if (countOf(session, point) >= count) settle(true);
        };
        const timer = setTimeout(() => settle(false), timeoutMs);
        watchers.add(watch);
        watch();
      }),
    made: (session) => countOf(session, 'made'),
    generation: () => generation,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
