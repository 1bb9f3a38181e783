/** One server in its page: its document, what the service knows about it, and the newest test of the draft. */
import { signal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { refreshHeldServers } from '../../api/held-servers.ts';
import { moniker } from '../../api/moniker.ts';
import { blankServer, type ServerDraft, toServerDraft } from './server-draft.ts';

type View = components['schemas']['ServerView'];
type Test = { of: string; result: components['schemas']['ServerTest'] | null; error: unknown };

export type OpenServer = ReturnType<typeof openServer>;

export function openServer(name: string) {
  const path = { server: name };
  /** The stored server with its tools; null: it is not stored. */
  const view = signal<View | null>(null);
  const warnings = signal<readonly components['schemas']['Warning'][]>([]);
  const test = signal<Test | null>(null);
  const isTesting = signal(false);
  const problem = signal<unknown>(null);

  const document = openDocument<ServerDraft>(`servers ${name}`, {
    blank: blankServer,
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/servers/{server}', { params: { path } });
      view.value = data ?? null;
      return data === undefined ? rest : { ...rest, data: toServerDraft(data) };
    },
    write: async (draft, header) => {
      const sent = await moniker.value.PUT('/v1/servers/{server}', { params: { path, header }, body: toBody(draft) });
      if (sent.data !== undefined) warnings.value = sent.data.warnings;
      return sent;
    },
    remove: (header) => moniker.value.DELETE('/v1/servers/{server}', { params: { path, header } }),
  });

  /** Reads the state of the stored server; the draft stays. */
  async function reload(): Promise<void> {
    view.value = await moniker.value.get('/v1/servers/{server}', { params: { path } });
    void refreshHeldServers();
  }

  /** Does something with the stored server and reads its state. Returns whether it succeeded. */
  async function act(work: () => Promise<unknown>): Promise<boolean> {
    problem.value = null;
    let failure: unknown = null;
    try {
      await work();
    } catch (error) {
      failure = error;
    }
    await reload().catch((error: unknown) => {
      failure ??= error;
    });
    problem.value = failure;
    return failure === null;
  }

  async function runTest(): Promise<void> {
    const draft = document.draft.value;
    if (draft === null) return;
    const of = JSON.stringify(draft);
    isTesting.value = true;
    try {
      const result = await moniker.value.post('/v1/servers/{server}/test', { params: { path }, body: toBody(draft) });
      test.value = { of, result, error: null };
    } catch (error) {
      test.value = { of, result: null, error };
    } finally {
      isTesting.value = false;
    }
  }

  return { name, path, document, view, warnings, test, isTesting, problem, reload, act, runTest };
}

/** The service checks which members the kind has. */
function toBody(draft: ServerDraft): components['schemas']['Server'] {
  return draft as components['schemas']['Server'];
}
