/** Somebody who is told how turns end: verifies with the reference library, and fails as often as it is told to. */
import { Webhook } from 'standardwebhooks';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';

export type ReceivedCallback = {
  id: string;
  type: string;
  // Tests look into bodies of several shapes; their assertions are the check.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  data: any;
};

export type CallbackReceiver = {
  url: string;
  /** Every request that came, refused ones too, by `webhook-id`. */
  attempts: string[];
  /** What was verified and taken, in order. */
  received: ReceivedCallback[];
  /** Why signatures were refused; a test that expects none says so. */
  refused: string[];
  /** The next requests are answered so, before anything is looked at. */
  failNext(...statuses: number[]): void;
  close(): void;
};

export async function startCallbackReceiver(secret: string): Promise<CallbackReceiver> {
  const attempts: string[] = [];
  const received: ReceivedCallback[] = [];
  const refused: string[] = [];
  const failures: number[] = [];
  const webhook = new Webhook(secret);
  const { url, close } = await listenUpstream({
    async handle(request) {
      const id = request.headers.get('webhook-id') ?? '';
      attempts.push(id);
      const failure = failures.shift();
      if (failure !== undefined) return new Response('not now', { status: failure });
      try {
        const body = webhook.verify(await request.text(), Object.fromEntries(request.headers)) as Omit<ReceivedCallback, 'id'>;
        received.push({ id, type: body.type, data: body.data });
        return new Response(null, { status: 204 });
      } catch (error) {
        refused.push(String(error));
        return new Response('bad signature', { status: 401 });
      }
    },
  });
  return { url: `${url}/moniker`, attempts, received, refused, failNext: (...statuses) => failures.push(...statuses), close };
}
