/** One toolset in the editor: its document, and what models receive of the stored version. */
import { computed, signal } from '@preact/signals';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { rowFaults, type ToolsetDraft } from './toolset-draft.ts';

export type OpenToolset = ReturnType<typeof openToolset>;

export function openToolset(name: string) {
  const path = { toolset: name };
  const document = openDocument<ToolsetDraft>(`toolsets ${name}`, {
    blank: { name, tools: [] },
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/toolsets/{toolset}', { params: { path } });
      return { ...rest, data: data && { ...data } };
    },
    check: (draft, aborted) =>
      moniker.value.put('/v1/toolsets/{toolset}', { params: { path, query: { dryRun: 'true' } }, body: draft, signal: aborted }),
    write: (draft, header) => moniker.value.PUT('/v1/toolsets/{toolset}', { params: { path, header }, body: draft }),
    remove: (header) => moniker.value.DELETE('/v1/toolsets/{toolset}', { params: { path, header } }),
  });
  const faults = computed(() => {
    const { state, error } = document.check.value;
    const draft = document.draft.value;
    return rowFaults(draft ?? { tools: [] }, state !== 'valid' && error instanceof MonikerError ? error.body : null);
  });
  const report = signal<components['schemas']['ToolsetTools'] | null>(null);
  const provider = signal('openai');

  async function loadReport(): Promise<void> {
    if (document.etag.value === null) return;
    try {
      report.value = await moniker.value.get('/v1/toolsets/{toolset}/tools', { params: { path, query: { provider: provider.value } } });
    } catch (error) {
      document.problem.value = error;
    }
  }

  return { name, path, document, faults, report, provider, loadReport };
}
