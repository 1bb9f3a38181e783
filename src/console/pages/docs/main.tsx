/**
 * `/docs`: the API reference, built from `/openapi.json`. Our own page instead of Scalar or Swagger UI, which need inline styles and
 * `innerHTML` and therefore do not run under the policy of our pages; their scripts have 989 and 458 kB after gzip.
 */
import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { loadKey } from '../../api/key.ts';
import { loadJson } from '../../api/request.ts';
import { loadTheme } from '../../api/theme.ts';
import { DocsShell } from './shell.tsx';
import { type ApiReference, readReference } from './reference.ts';
import { followRoute, route } from './route.ts';

const reference = signal<ApiReference | string | null>(null);

function DocsPage() {
  const loaded = reference.value;
  if (loaded !== null && typeof loaded !== 'string') return <DocsShell reference={loaded} />;
  return (
    <main class="loading">
      <h1>Moniker API</h1>
      {loaded === null ? (
        <p role="status">Loading the OpenAPI document…</p>
      ) : (
        <p role="alert">
          The <a href="/openapi.json">OpenAPI document</a> could not be loaded: {loaded}
        </p>
      )}
    </main>
  );
}

/** Links such as `/docs#createKey` name an operation directly. */
function acceptShortLinks({ operations }: ApiReference): void {
  const name = location.hash.slice(1);
  if (operations.has(name)) history.replaceState(null, '', `#operation/${name}`);
}

async function start(root: HTMLElement): Promise<void> {
  loadTheme();
  loadKey();
  render(<DocsPage />, root);
  try {
    const loaded = readReference(await loadJson('/openapi.json'));
    acceptShortLinks(loaded);
    followRoute();
    effect(() => {
      document.title = titleOf(loaded);
    });
    reference.value = loaded;
  } catch (error) {
    reference.value = error instanceof Error ? error.message : String(error);
  }
}

function titleOf({ title, operations }: ApiReference): string {
  const { page, name } = route.value;
  const shown = page === 'operation' ? operations.get(name)?.summary : name;
  return shown ? `${shown} · ${title} API` : `${title} API`;
}

const page = document.getElementById('page');
if (page !== null) void start(page);
