/** `/console/models`: the models that the key may use, what is known of each, and a test request. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { type Column, Records } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';

type Model = components['schemas']['Model'];

/** Lists of routers have several hundred. */
const maxShown = 200;

export function ModelsPage() {
  const { data, error, isLoading, reload } = useLoaded((signal) => moniker.value.get('/v1/models', { signal }));
  const search = useSignal('');
  const found = (data?.data ?? []).filter(({ id }) => id.toLowerCase().includes(search.value.toLowerCase()));
  return (
    <div class="view wide" aria-busy={isLoading}>
      <div class="head">
        <h1>Models</h1>
        <span class="grow" />
        <input
          type="search"
          aria-label="Find a model"
          placeholder="Find a model"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <button type="button" disabled={isLoading} onClick={() => void reload()}>
          Refresh
        </button>
      </div>
      <p class="muted">
        Empty cells are not known. The document of a provider can say what its models take. A test sends one short request.
      </p>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {data?.unavailable.map(({ provider, reason }) => (
        <p key={provider} class="badge warn">
          {visible(`The models of ${provider} are missing: it ${reason}.`)}
        </p>
      ))}
      <Records caption="Models" items={found.slice(0, maxShown)} columns={columns} keyOf={({ id }) => id} />
      {found.length > maxShown && <p class="muted">{`${found.length - maxShown} more: type a part of the name.`}</p>}
      {data !== null && found.length === 0 && <p>No model has this name.</p>}
    </div>
  );
}

const tokens = (count: number | undefined): string => count?.toLocaleString('en') ?? '';
const perMillion = (price: string | undefined): string => (price === undefined ? '' : String(Number((Number(price) * 1e6).toPrecision(6))));

const columns: readonly Column<Model>[] = [
  { label: 'Model', cell: ({ id }) => visible(id) },
  { label: 'Context', isNumber: true, cell: ({ context_length: context, max_input_tokens: input }) => tokens(context ?? input) },
  { label: 'Output', isNumber: true, cell: ({ max_output_tokens: output }) => tokens(output) },
  { label: 'Input per million', isNumber: true, cell: ({ pricing }) => perMillion(pricing?.prompt) },
  { label: 'Output per million', isNumber: true, cell: ({ pricing }) => perMillion(pricing?.completion) },
  {
    label: 'Takes',
    cell: ({ architecture, supported_parameters: parameters = [] }) =>
      visible(
        [...(architecture?.input_modalities ?? []), ...parameters.filter((one) => one === 'tools' || one === 'reasoning')].join(', '),
      ),
  },
  { label: 'Test', cell: ({ id }) => <TestButton model={id} /> },
];

function TestButton({ model }: { model: string }) {
  const state = useSignal<'running' | null | { text: string } | { error: unknown }>(null);
  const test = async (): Promise<void> => {
    state.value = 'running';
    const startedAt = performance.now();
    try {
      const body = { model, messages: [{ role: 'user' as const, content: 'Reply with the word ok.' }], max_completion_tokens: 512 };
      const answer = await moniker.value.post('/v1/chat/completions', { body });
      state.value = { text: `${Math.round(performance.now() - startedAt)} ms, answered by ${answer.model}` };
    } catch (error) {
      state.value = { error };
    }
  };
  const { value } = state;
  return (
    <>
      <span class="actions">
        <button type="button" aria-label={`Test ${model}`} disabled={value === 'running'} onClick={() => void test()}>
          Test
        </button>
        {value !== null && typeof value === 'object' && 'text' in value && <span role="status">{visible(value.text)}</span>}
      </span>
      {value !== null && typeof value === 'object' && 'error' in value && <ProblemView error={value.error} />}
    </>
  );
}
