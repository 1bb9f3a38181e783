/** Agent or model, and toolset, of a new chat. Those of a chat that has begun are fixed. */
import { asWritten, boundChoice, Select } from '../../parts/fields/controls.tsx';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { moniker } from '../../api/moniker.ts';
import { chosenModel, loadModels, models } from '../../api/models.ts';
import type { ChatSession } from '../../session/chat-session.ts';
import { visible } from '../../parts/text/visible.ts';

const toolsets = signal<readonly string[]>([]);
const chosenToolset = signal('');

const demo = 'agent/demo';

function model(): string {
  return chosenModel.value ?? (models.value.includes(demo) ? demo : (models.value[0] ?? demo));
}

/** The body of `POST /v1/sessions`. */
export function chosenSetup(): { agent: string } | { model: string; toolset?: string } {
  const chosen = model();
  if (chosen.startsWith('agent/')) return { agent: chosen.slice('agent/'.length) };
  return { model: chosen, ...(chosenToolset.value !== '' && { toolset: chosenToolset.value }) };
}

export function Picker({ session }: { session: ChatSession | null }) {
  useEffect(() => {
    // Without the lists, a chat begins with the demo agent; its first request reports what is wrong.
    loadModels().catch(() => undefined);
    loadToolsets().catch(() => undefined);
  }, [moniker.value]);
  if (session !== null) {
    const { agent, model: used, toolset } = session.view.value ?? {};
    const turn = session.version.value < 0 ? undefined : session.conversation.turns.at(-1);
    const who = agent === undefined ? (used ?? turn?.model ?? '') : `agent/${agent}`;
    return (
      <span class="picked">
        {who !== '' && <strong>{visible(who)}</strong>}
        {toolset && <span class="muted"> with {visible(toolset)}</span>}
      </span>
    );
  }
  const chosen = model();
  return (
    <span class="picker">
      <label class="visually-hidden" for="model">
        Agent or model
      </label>
      <Select
        id="model"
        value={chosen}
        choices={asWritten(models.value.length === 0 ? [chosen] : models.value)}
        onInput={(id) => (chosenModel.value = id)}
      />
      {!chosen.startsWith('agent/') && (
        <>
          <label class="visually-hidden" for="toolset">
            Toolset
          </label>
          <Select id="toolset" {...boundChoice(chosenToolset)} choices={[['', 'no tools'], ...asWritten(toolsets.value)]} />
        </>
      )}
    </span>
  );
}

async function loadToolsets(): Promise<void> {
  const { items } = await moniker.value.get('/v1/toolsets', { params: { query: { limit: 100 } } });
  toolsets.value = items.map(({ name }) => name);
}
