/** The versions of a toolset, what each of them changed, the way back to one, and retiring those that nothing is to use any more. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import type { OpenToolset } from './toolset-state.ts';

type Version = { version: number; createdAt: string; removed: boolean; retired?: { at: string; by: string } | undefined };
type Diff = components['schemas']['ToolsetDiff'];

export function VersionsPanel({ state }: { state: OpenToolset }) {
  const versions = useSignal<Version[]>([]);
  const diff = useSignal<Diff | null>(null);
  /** What names the version that was retired last. */
  const uses = useSignal<readonly string[]>([]);
  const { problem, attempt } = useAttempt();
  const { path } = state;
  const load = async (): Promise<void> => {
    versions.value = (await moniker.value.get('/v1/toolsets/{toolset}/versions', { params: { path, query: { limit: 50 } } })).items;
  };
  useEffect(() => void attempt(load), [state.document.etag.value]);
  const compare = (version: number) =>
    attempt(async () => {
      diff.value = await moniker.value.get('/v1/toolsets/{toolset}/diff', { params: { path, query: { from: version - 1, to: version } } });
    });
  const rollBack = (version: number) =>
    attempt(async () => {
      await moniker.value.post('/v1/toolsets/{toolset}/rollback', { params: { path }, body: { version } });
      diff.value = null;
      await state.document.discard();
    });
  const setRetired = ({ version, retired }: Version) =>
    attempt(async () => {
      const params = { path: { ...path, version } };
      const url = '/v1/toolsets/{toolset}/versions/{version}/retire';
      const { warnings } = await (retired === undefined ? moniker.value.post(url, { params }) : moniker.value.delete(url, { params }));
      uses.value = warnings.map(({ message }) => message);
      await load();
    });
  const newest = Math.max(...versions.value.map(({ version }) => version));
  return (
    <>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <ul class="rows">
        {versions.value.map(({ version, createdAt, removed, retired }) => (
          <li key={version}>
            <strong>Version {version}</strong>
            <span class="muted">{removed ? 'deleted' : new Date(createdAt).toLocaleString()}</span>
            {retired !== undefined && <span class="badge bad">retired</span>}
            {version > 1 && (
              <button type="button" class="plain" aria-label={`Changes of version ${version}`} onClick={() => void compare(version)}>
                Changes
              </button>
            )}
            {version < newest && !removed && retired === undefined && (
              <button type="button" class="plain" aria-label={`Roll back to version ${version}`} onClick={() => void rollBack(version)}>
                Roll back
              </button>
            )}
            {version < newest && !removed && (
              <button
                type="button"
                class="plain"
                aria-label={`${retired === undefined ? 'Retire' : 'Restore'} version ${version}`}
                onClick={() => void setRetired({ version, createdAt, removed, retired })}
              >
                {retired === undefined ? 'Retire' : 'Restore'}
              </button>
            )}
          </li>
        ))}
      </ul>
      {uses.value.map((use) => (
        <p key={use} class="muted">
          {visible(use)}
        </p>
      ))}
      {diff.value !== null && <DiffView diff={diff.value} />}
    </>
  );
}

function DiffView({ diff: { from, to, fields, changes, more } }: { diff: Diff }) {
  return (
    <section aria-label="Changes">
      <h2>
        Version {from ?? 0} to {to}
      </h2>
      {[...(fields.length > 0 ? [{ change: 'changed', canonical: 'the toolset', wireName: '', fields }] : []), ...changes].map((one) => (
        <div key={one.canonical + one.wireName} class="change">
          <span class={`badge ${{ added: 'ok', removed: 'bad' }[one.change] ?? 'info'}`}>{one.change}</span>{' '}
          <code>{visible(one.canonical)}</code>
          <ul class="changes">
            {one.fields.map(({ path, from: before, to: after }) => (
              <li key={path}>
                <code>{path}</code> {before !== undefined && <del>{visible(JSON.stringify(before))}</del>}{' '}
                {after !== undefined && <ins>{visible(JSON.stringify(after))}</ins>}
              </li>
            ))}
          </ul>
        </div>
      ))}
      {more > 0 && <p class="muted">And {more} more changes.</p>}
    </section>
  );
}
