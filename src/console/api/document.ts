/**
 * A stored document in an editor: the stored version, a draft that is kept in the tab until it is saved or discarded, and a check of the draft
 * shortly after each change.
 */
import { computed, signal } from '@preact/signals';
import { type components, MonikerError } from '../../../client/src/index.ts';
import { chosenWorkspace } from './workspace.ts';

/** What the typed client returns of a request. */
export type DocumentResponse<Data> = { data?: Data | undefined; error?: unknown; response: Response };
export type WriteConditions = { 'if-match'?: string; 'if-none-match'?: string };

export type DocumentApi<Draft, View> = {
  /** The draft of a document that does not exist. */
  blank: Draft;
  /** Leaves out what the service adds to the document. */
  toDraft(view: View): Draft;
  read(query?: { version?: number }): Promise<DocumentResponse<View>>;
  /** Rejects with what is wrong with the draft; stores nothing. Absent: the service checks it when it is saved. */
  check?(draft: Draft, signal: AbortSignal): Promise<unknown>;
  /** What the draft would have done to the calls of the last days. Absent: it is not compared with them. */
  compare?(draft: NoInfer<Draft>, signal: AbortSignal): Promise<Impact>;
  write(draft: NoInfer<Draft>, header: WriteConditions): Promise<DocumentResponse<unknown>>;
  remove(header: WriteConditions): Promise<DocumentResponse<unknown>>;
  versions?(): Promise<DocumentResponse<Versions>>;
  /** The part of the draft that may be kept in sessionStorage. Default: everything. */
  toKept?(draft: Draft): Draft;
};

type Schemas = components['schemas'];
/** What a change would have done to past calls, as the API compares each kind of document. */
export type Impact = Schemas['ToolsetImpact'] | Schemas['AgentImpact'] | Schemas['DefinitionImpact'] | Schemas['PolicyImpact'];

export type Versions = { items: readonly Schemas['DocumentVersion'][] };

/** `pending`: changed since the last check. `error`: of the check. */
type DraftCheck = { state: 'pending' | 'valid' | 'invalid'; error: unknown };

const checkDelayMs = 250;
const draftPrefix = 'moniker-document-';

export type OpenDocument<Draft, View = unknown> = ReturnType<typeof openDocument<Draft, View>>;

/** `key`: the kind and the name of the document, such as `toolset demo`. */
export function openDocument<Draft, View>(key: string, api: DocumentApi<Draft, View>) {
  const storageName = draftName(key);
  /** The stored document as the service shows it; null: it does not exist. */
  const view = signal<View | null>(null);
  const draft = signal<Draft | null>(null);
  const stored = signal('');
  const isChanged = computed(() => draft.value !== null && JSON.stringify(draft.value) !== stored.value);
  /** null: the document does not exist. */
  const etag = signal<string | null>(null);
  const check = signal<DraftCheck>({ state: 'valid', error: null });
  const problem = signal<unknown>(null);
  /** Of the newest save, for documents whose view has none. */
  const written = signal<readonly Schemas['Warning'][]>([]);
  const warnings = computed(() => warningsOf(view.value) ?? written.value);
  /** Increases when the draft is replaced as a whole. */
  const generation = signal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest: AbortController | null = null;

  /** What is typed while the document is read stays. */
  async function load(): Promise<void> {
    const before = draft.value;
    try {
      const { data, error, response } = await api.read();
      if (!response.ok && response.status !== 404) throw toError(error, response);
      view.value = (response.ok && data) || null;
      const document = view.value === null ? api.blank : api.toDraft(view.value);
      stored.value = JSON.stringify(document);
      etag.value = response.ok ? response.headers.get('etag') : null;
      problem.value = null;
      if (draft.value !== before) return;
      const kept = readDraft<Draft>(storageName);
      draft.value = kept ?? document;
      generation.value += 1;
      if (kept !== null) void runCheck();
    } catch (error) {
      problem.value = error;
    }
  }

  function edit(next: Draft): void {
    draft.value = next;
    storeDraft(storageName, api.toKept?.(next) ?? next);
    check.value = { ...check.value, state: 'pending' };
    clearTimeout(timer);
    timer = setTimeout(() => void runCheck(), checkDelayMs);
  }

  /** As `edit`, for a change that was not made in the fields: they show the new draft. */
  function replace(next: Draft): void {
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
      await api.check?.(checked, own.signal);
      check.value = { state: 'valid', error: null };
    } catch (error) {
      if (!own.signal.aborted) check.value = { state: 'invalid', error };
    }
  }

  /** `overwrite`: also if another client stored a version meanwhile. Returns the version, or null if nothing was stored. */
  async function save(overwrite = false): Promise<number | null> {
    const saved = draft.value;
    if (saved === null) return null;
    const header = overwrite ? {} : etag.value === null ? { 'if-none-match': '*' } : { 'if-match': etag.value };
    return await store(api.write(saved, header), () => {
      stored.value = JSON.stringify(api.toKept?.(saved) ?? saved);
    });
  }

  /** Sends a request that stores the document in place of the draft. Returns the version, or null if nothing was stored. */
  async function store(request: Promise<DocumentResponse<unknown>>, onStored?: () => void): Promise<number | null> {
    const sent = await send(request);
    if (sent === null) return null;
    written.value = warningsOf(sent.data) ?? [];
    onStored?.();
    await discard();
    return Number(sent.response.headers.get('etag')?.replaceAll('"', '') ?? Number.NaN);
  }

  /** Returns the places that still name the document, `''` if there are none; null: it was not deleted. */
  async function remove(): Promise<string | null> {
    const removed = await send(api.remove(etag.value === null ? {} : { 'if-match': etag.value }));
    if (removed === null) return null;
    forget();
    etag.value = null;
    return removed.response.headers.get('x-moniker-still-named') ?? '';
  }

  /** The document that is stored now, or null if it cannot be read; `problem` then says why. */
  async function readStored(): Promise<Draft | null> {
    try {
      return api.toDraft(dataOf(await api.read()));
    } catch (error) {
      problem.value = error;
      return null;
    }
  }

  async function send(request: Promise<DocumentResponse<unknown>>): Promise<DocumentResponse<unknown> | null> {
    try {
      const sent = await request;
      if (!sent.response.ok) throw toError(sent.error, sent.response);
      problem.value = null;
      return sent;
    } catch (error) {
      problem.value = error;
      return null;
    }
  }

  function forget(): void {
    clearTimeout(timer);
    latest?.abort();
    sessionStorage.removeItem(storageName);
    check.value = { state: 'valid', error: null };
  }

  async function discard(): Promise<void> {
    forget();
    if (stored.value !== '') {
      draft.value = JSON.parse(stored.value) as Draft;
      generation.value += 1;
    }
    await load();
  }

  return {
    isChecked: api.check !== undefined,
    view,
    draft,
    isChanged,
    stored,
    etag,
    check,
    problem,
    warnings,
    generation,
    load,
    edit,
    replace,
    save,
    store,
    remove,
    discard,
    readStored,
    readVersion: async (version: number): Promise<Draft> => api.toDraft(dataOf(await api.read({ version }))),
    listVersions: async () => (api.versions === undefined ? [] : dataOf(await api.versions()).items),
    recheck: runCheck,
    compare: api.compare,
  };
}

/** Returns the value with the members; those that are undefined are left out. */
export function withMembers<Value extends object>(value: Value, members: { [Name in keyof Value]?: Value[Name] | undefined }): Value {
  const merged: [string, unknown][] = Object.entries({ ...value, ...members });
  // The same members, without those that have no value.
  return Object.fromEntries(merged.filter(([, member]) => member !== undefined)) as Value;
}

/** Whether this tab has changes of the document that are not saved. */
export function hasDraft(key: string): boolean {
  return sessionStorage.getItem(draftName(key)) !== null;
}

/** Documents of another workspace have drafts of their own. */
function draftName(key: string): string {
  return draftPrefix + (chosenWorkspace.value === null ? '' : `${chosenWorkspace.value} `) + key;
}

function readDraft<Draft>(storageName: string): Draft | null {
  const kept = sessionStorage.getItem(storageName);
  // Written by `storeDraft`.
  return kept === null ? null : (JSON.parse(kept) as Draft);
}

function storeDraft(storageName: string, draft: unknown): void {
  try {
    sessionStorage.setItem(storageName, JSON.stringify(draft));
  } catch {
    // The storage of the tab is full: this draft lasts only until the page is reloaded.
  }
}

/** What a stored document, or the response to its PUT, has as `warnings`; undefined: its kind has none there. */
function warningsOf(data: unknown): readonly Schemas['Warning'][] | undefined {
  return (data as { warnings?: Schemas['Warning'][] } | null | undefined)?.warnings;
}

function dataOf<Data>({ data, error, response }: DocumentResponse<Data>): Data {
  if (!response.ok || data === undefined) throw toError(error, response);
  return data;
}

function toError(body: unknown, { status, headers }: Response): MonikerError {
  return new MonikerError(body, { status, requestId: headers.get('x-request-id') });
}
