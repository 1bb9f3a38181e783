/** One toolset in the editor: its document, and what models receive of it, stored or not. */
import { computed, signal } from '@preact/signals';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { moniker } from '../../api/moniker.ts';
import { rowFaults, type ToolsetDraft } from './toolset-draft.ts';

type Schemas = components['schemas'];
export type OpenToolset = ReturnType<typeof openToolset>;

export function openToolset(name: string) {
  const path = { toolset: name };
  /** Of the newest draft that was checked, or of the stored toolset. */
  const report = signal<Omit<Schemas['ToolsetTools'], 'version'> | null>(null);
  const provider = signal('openai');
  const document = openDocument(`toolsets ${name}`, {
    ...documentAt('/v1/toolsets/{toolset}', path),
    blank: { name, tools: [] } as ToolsetDraft,
    toDraft: (toolset): ToolsetDraft => toolset,
    check: async (draft, aborted) => {
      const params = { path, query: { provider: provider.value } };
      const preview = await moniker.value.post('/v1/toolsets/{toolset}/preview', { params, body: draft, signal: aborted });
      report.value = preview;
      if (!preview.valid) throw toProblem(preview);
    },
    compare: (body, signal) => moniker.value.post('/v1/toolsets/{toolset}/impact', { params: { path }, body, signal }),
  });
  const faults = computed(() => {
    const { state, error } = document.check.value;
    const draft = document.draft.value;
    return rowFaults(draft ?? { tools: [] }, state !== 'valid' && error instanceof MonikerError ? error.body : null);
  });

  async function loadReport(): Promise<void> {
    const { isChanged, etag, problem, recheck } = document;
    if (isChanged.value) return await recheck();
    if (etag.value === null) return;
    try {
      report.value = await moniker.value.get('/v1/toolsets/{toolset}/tools', { params: { path, query: { provider: provider.value } } });
    } catch (error) {
      problem.value = error;
    }
  }

  return { name, path, document, faults, report, provider, loadReport };
}

/** The faults of a draft, as the error that PUT would return for them. */
function toProblem({ issues, conflicts }: Schemas['ToolsetPreview']): MonikerError {
  const title = 'The draft cannot be saved';
  const detail = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new MonikerError({ code: 'invalid_request', title, detail, issues, conflicts }, { status: 422, requestId: null });
}
