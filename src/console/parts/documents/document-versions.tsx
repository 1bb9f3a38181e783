/** Earlier versions of a document: what is different in the draft, and putting one back into the editor. Loaded when it is opened. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import type { OpenDocument } from '../../api/document.ts';
import { useAttempt } from '../../api/load.ts';
import { DiffLines } from './diff-lines.tsx';
import { ProblemView } from '../text/problem-view.tsx';
import { Time } from '../records/records.tsx';

export function DocumentVersions<Draft>({ document }: { document: OpenDocument<Draft> }) {
  const versions = useSignal<readonly components['schemas']['DocumentVersion'][]>([]);
  const shown = useSignal<{ version: number; text: string } | null>(null);
  const { problem, attempt } = useAttempt();
  const { draft, etag, listVersions, readVersion } = document;
  useEffect(
    () =>
      void attempt(async () => {
        versions.value = await listVersions();
      }),
    [etag.value],
  );
  const compare = (version: number) =>
    attempt(async () => {
      shown.value = { version, text: JSON.stringify(await readVersion(version), null, 2) };
    });
  const use = (version: number) => attempt(async () => document.replace(await readVersion(version)));
  return (
    <>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <ul class="rows">
        {versions.value.map(({ version, createdAt }) => (
          <li key={version}>
            <strong>Version {version}</strong>
            <span class="muted">
              <Time iso={createdAt} exact />
            </span>
            <button
              type="button"
              class="plain"
              aria-label={`Compare: version ${version} with the draft`}
              onClick={() => void compare(version)}
            >
              Compare
            </button>
            <button type="button" class="plain" aria-label={`Put into the editor: version ${version}`} onClick={() => void use(version)}>
              Put into the editor
            </button>
          </li>
        ))}
      </ul>
      {shown.value !== null && (
        <DiffLines
          before={shown.value.text}
          after={JSON.stringify(draft.value, null, 2)}
          label={`Version ${shown.value.version}, and the draft`}
        />
      )}
    </>
  );
}
