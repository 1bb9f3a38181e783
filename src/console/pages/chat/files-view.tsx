/** The files of a session: list, view, download, upload. Content is text of tools and models: it is shown as text only. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useAttempt } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { UploadButton } from '../../parts/actions/upload-button.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { saveAs } from '../../parts/documents/save-as.ts';
import { visible } from '../../parts/text/visible.ts';
import type { ChatSession } from '../../session/chat-session.ts';

type Entry = { name: string; kind: 'file' | 'directory'; size: number };

/** Larger files can be downloaded. */
const maxShownBytes = 256 * 1024;

export function FilesView({ session }: { session: ChatSession }) {
  const entries = useSignal<Entry[] | null>(null);
  const shown = useSignal<{ name: string; text: string } | null>(null);
  const { problem, attempt } = useAttempt();
  const id = session.id;
  const list = async (): Promise<void> => {
    const listing = await moniker.value.get('/v1/sessions/{id}/files', { params: { path: { id }, query: { recursive: 'true' } } });
    entries.value = listing.entries.filter(({ kind }) => kind === 'file');
  };
  const isLive = session.isLive.value;
  useEffect(() => {
    if (!isLive) void attempt(list);
  }, [id, isLive]);
  const read = (path: string) => moniker.value.get('/v1/sessions/{id}/files/{path}', { params: { path: { id, path } }, parseAs: 'blob' });
  const show = (name: string) =>
    attempt(async () => {
      shown.value = { name, text: await (await read(name)).text() };
    });
  const download = (name: string) => attempt(async () => saveAs(await read(name), name));
  const upload = (files: readonly File[]) =>
    attempt(async () => {
      for (const file of files) {
        // The document describes a body of bytes as text.
        const body = file as unknown as string;
        await moniker.value.put('/v1/sessions/{id}/files/{path}', { params: { path: { id, path: file.name } }, body });
      }
      await list();
    });
  return (
    <>
      <p class="upload">
        <UploadButton label="Upload a file" isMultiple onFiles={upload} />
      </p>
      {problem.value !== null && <ProblemView error={problem.value} retry={() => void attempt(list)} />}
      {entries.value?.length === 0 && <p class="muted">No files yet. Tools write them, or upload one.</p>}
      <ul class="files">
        {(entries.value ?? []).map(({ name, size }) => (
          <li key={name}>
            <button type="button" class="plain name" disabled={size > maxShownBytes} onClick={() => void show(name)}>
              {visible(name)}
            </button>
            <span class="muted">{bytes(size)}</span>
            <button type="button" class="plain" aria-label={`Download ${name}`} onClick={() => void download(name)}>
              Download
            </button>
          </li>
        ))}
      </ul>
      {shown.value !== null && (
        <section aria-label={`File ${shown.value.name}`}>
          <h2>{visible(shown.value.name)}</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <pre class="file" tabIndex={0}>
            {shown.value.text === '' ? <span class="muted">empty</span> : visible(shown.value.text)}
          </pre>
        </section>
      )}
    </>
  );
}

function bytes(size: number): string {
  return size < 1024 ? `${size} B` : size < 1024 * 1024 ? `${(size / 1024).toFixed(1)} kB` : `${(size / 1024 / 1024).toFixed(1)} MB`;
}
