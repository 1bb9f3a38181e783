/** A receiver of callbacks: verifies signatures with the reference library, and fails as often as a test configures. */
import { Webhook } from 'standardwebhooks';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';

export type ReceivedCallback = {
  id: string;
  type: string;
  // Tests read bodies of several shapes and check them by assertion.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  data: any;
};

export type CallbackReceiver = {
  url: string;
  /** All requests, rejected ones included, by `webhook-id`. */
  attempts: string[];
  /** The verified and accepted callbacks, in order. */
  received: ReceivedCallback[];
  /** Why signatures were rejected; tests that expect rejections read it. */
  refused: string[];
  /** Responses to the next requests, sent before anything is verified. */
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
