/** Hears of every crash point that the crash build comes to. Lets all pass but the armed one, which stands until it is told. */
import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

export type Armed = {
  /** Resolves when as many as were asked for stand at the point. */
  reached: Promise<void>;
  /** Answers all that stand there, and lets later ones pass. `abort <session id>` aborts that object. */
  release(answer: string): void;
};

export type Recorder = {
  url: string;
  /** `skip`: hits that pass before it; `held`: so many stand there before it counts as reached. */
  arm(point: string, options?: { skip?: number; held?: number }): Armed;
  hits(point: string): number;
  /** How often the object of a session was made. */
  made(session: string): number;
  /** Resolves at the next hits of the point that make `count`; false after the time. */
  sees(point: string, count: number, timeoutMs: number): Promise<boolean>;
  /** The generation of the code that spoke last. */
  generation(): string | null;
  close(): void;
};

export async function startRecorder(): Promise<Recorder> {
  const counts = new Map<string, number>();
  const watchers = new Set<() => void>();
  const made = new Map<string, number>();
  let generation: string | null = null;
  let armed: { point: string; skip: number; held: number; standing: ServerResponse[]; reach: () => void } | null = null;

  const server = createServer((request, response) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://recorder');
    const [, kind, point = ''] = pathname.split('/');
    generation = searchParams.get('generation');
    if (kind === 'made') {
      made.set(point, (made.get(point) ?? 0) + 1);
      return void response.end('go');
    }
    counts.set(point, (counts.get(point) ?? 0) + 1);
    for (const watch of [...watchers]) watch();
    if (armed === null || armed.point !== point) return void response.end('go');
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
    arm: (point, { skip = 0, held = 1 } = {}) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const mine = { point, skip, held, standing: [] as ServerResponse[], reach: resolve };
      armed = mine;
      return {
        reached: promise,
        release: (answer) => {
          if (armed === mine) armed = null;
          for (const response of mine.standing.splice(0)) response.end(answer);
        },
      };
    },
    hits: (point) => counts.get(point) ?? 0,
    made: (session) => made.get(session) ?? 0,
    sees: (point, count, timeoutMs) =>
      new Promise((resolve) => {
        const settle = (seen: boolean): void => {
          clearTimeout(timer);
          watchers.delete(watch);
          resolve(seen);
        };
        const watch = (): void => {
          if ((counts.get(point) ?? 0) >= count) settle(true);
        };
        const timer = setTimeout(() => settle(false), timeoutMs);
        watchers.add(watch);
        watch();
      }),
    generation: () => generation,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
