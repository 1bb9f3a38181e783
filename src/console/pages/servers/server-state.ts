/** One server in its page: its document, what the service knows about it, and the newest test of the draft. */
import { signal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { refreshHeldServers } from '../../api/held-servers.ts';
import { moniker } from '../../api/moniker.ts';
import { blankServer, type ServerDraft, toServerDraft } from './server-draft.ts';

type Test = { of: string; result: components['schemas']['ServerTest'] | null; error: unknown };

export type OpenServer = ReturnType<typeof openServer>;

export function openServer(name: string) {
  const path = { server: name };
  const warnings = signal<readonly components['schemas']['Warning'][]>([]);
  const test = signal<Test | null>(null);
  const isTesting = signal(false);
  const problem = signal<unknown>(null);

  const api = documentAt('/v1/servers/{server}', path);
  const document = openDocument(`servers ${name}`, {
    ...api,
    blank: blankServer,
    toDraft: toServerDraft,
    write: async (draft, header) => {
      const sent = await api.write(toBody(draft), header);
      if (sent.data !== undefined) warnings.value = (sent.data as components['schemas']['WrittenServer']).warnings;
      return sent;
    },
  });

  /** Reads the state of the stored server; the draft stays. */
  async function reload(): Promise<void> {
    document.view.value = await moniker.value.get('/v1/servers/{server}', { params: { path } });
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

  return { name, path, document, warnings, test, isTesting, problem, reload, act, runTest };
}

/** The service checks which members the kind has. */
function toBody(draft: ServerDraft): components['schemas']['Server'] {
  return draft as components['schemas']['Server'];
}
