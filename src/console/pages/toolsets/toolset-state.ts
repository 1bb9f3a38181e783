/** One toolset in the editor: the stored document, the draft, and a check of the draft shortly after each change. */
import { signal } from '@preact/signals';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { rowFaults, type RowFault, type ToolsetDraft } from './toolset-draft.ts';

export type ToolsetReportView = components['schemas']['ToolsetTools'];

/** `pending`: changed since the last check. */
type Check = { state: 'pending' | 'valid' | 'invalid'; faults: ReadonlyMap<number, RowFault>; error: unknown };

const checkDelayMs = 250;
const noFaults: ReadonlyMap<number, RowFault> = new Map();

export type OpenToolset = ReturnType<typeof openToolset>;

export function openToolset(name: string) {
  const path = { toolset: name };
  const storageName = `moniker-toolset-${name}`;
  const draft = signal<ToolsetDraft | null>(null);
  const stored = signal<string>('');
  const etag = signal<string | null>(null);
  const check = signal<Check>({ state: 'valid', faults: noFaults, error: null });
  const problem = signal<unknown>(null);
  const report = signal<ToolsetReportView | null>(null);
  const provider = signal('openai');
  /** Increases when the draft is replaced as a whole. */
  const generation = signal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest: AbortController | null = null;

  async function load(): Promise<void> {
    try {
      const { data, error, response } = await moniker.value.GET('/v1/toolsets/{toolset}', { params: { path } });
      if (!response.ok && response.status !== 404) throw new MonikerError(error, { status: response.status, requestId: null });
      const document: ToolsetDraft = response.ok && data !== undefined ? { ...data } : { name, tools: [] };
      stored.value = JSON.stringify(document);
      etag.value = response.headers.get('etag');
      const kept = sessionStorage.getItem(storageName);
      draft.value = kept === null ? document : (JSON.parse(kept) as ToolsetDraft);
      generation.value += 1;
      problem.value = null;
      if (kept !== null) void runCheck();
      if (response.ok) await loadReport();
    } catch (error) {
      problem.value = error;
    }
  }

  async function loadReport(): Promise<void> {
    try {
      report.value = await moniker.value.get('/v1/toolsets/{toolset}/tools', { params: { path, query: { provider: provider.value } } });
    } catch (error) {
      problem.value = error;
    }
  }

  function edit(next: ToolsetDraft): void {
    draft.value = next;
    sessionStorage.setItem(storageName, JSON.stringify(next));
    check.value = { ...check.value, state: 'pending' };
    clearTimeout(timer);
    timer = setTimeout(() => void runCheck(), checkDelayMs);
  }

  /** As `edit`, for a change that was not made in the table: its fields show the new document. */
  function replace(next: ToolsetDraft): void {
    generation.value += 1;
    edit(next);
  }

  /** Only the newest check counts: an older response may arrive later. */
  async function runCheck(): Promise<void> {
    const checked = draft.value;
    if (checked === null) return;
    latest?.abort();
    const own = new AbortController();
    latest = own;
    try {
      await moniker.value.put('/v1/toolsets/{toolset}', { params: { path, query: { dryRun: 'true' } }, body: checked, signal: own.signal });
      check.value = { state: 'valid', faults: noFaults, error: null };
    } catch (error) {
      if (own.signal.aborted) return;
      check.value = { state: 'invalid', faults: rowFaults(checked, error instanceof MonikerError ? error.body : null), error };
    }
  }

  /** `overwrite`: also if the document was changed by another client meanwhile. Returns the version, or null if it was not stored. */
  async function save(overwrite = false): Promise<number | null> {
    if (draft.value === null) return null;
    try {
      const header = overwrite ? {} : etag.value === null ? { 'if-none-match': '*' } : { 'if-match': etag.value };
      const { version } = await moniker.value.put('/v1/toolsets/{toolset}', { params: { path, query: {}, header }, body: draft.value });
      await discard();
      return version;
    } catch (error) {
      problem.value = error;
      return null;
    }
  }

  async function discard(): Promise<void> {
    clearTimeout(timer);
    sessionStorage.removeItem(storageName);
    check.value = { state: 'valid', faults: noFaults, error: null };
    await load();
  }

  return { name, path, draft, stored, etag, check, problem, report, provider, generation, load, loadReport, edit, replace, save, discard };
}
