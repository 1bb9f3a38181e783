/**
 * Hears of every crash point that a session of the crash build comes to. Lets all pass but the armed one, at which the session
 * stands until it is told to go on, or to abort.
 */
import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

export type Armed = {
  /** Resolves when as many as were asked for stand at the point. */
  reached: Promise<void>;
  /** Answers all that stand there, and lets later ones pass. */
  release(answer: 'go' | 'abort'): void;
};

export type Recorder = {
  url: string;
  /** `skip`: hits that pass before it; `held`: so many stand there before it counts as reached. One at a time is armed. */
  arm(session: string, point: string, options?: { skip?: number; held?: number }): Armed;
  hits(session: string, point: string): number;
  /** Resolves when there were so many hits; false after the time. */
  sees(session: string, point: string, count: number, timeoutMs: number): Promise<boolean>;
  /** How often the object of a session was made. */
  made(session: string): number;
  /** Of the code that spoke last. */
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
