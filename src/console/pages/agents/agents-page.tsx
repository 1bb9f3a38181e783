/** `/console/agents/{name?}`: the list of agents, or the editor of one. */
import { useNames } from '../../api/load.ts';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { chosenModel, useModels } from '../../api/models.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { TimeoutFields } from '../../parts/fields/timeout-fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { navigate, pathOf } from '../../router.ts';

export const AgentsPage = documentPage({
  Editor: AgentEditor,
  view: 'agents',
  title: 'Agents',
  about: 'An agent is a model with instructions, tools and limits under one name. Clients use it as the model agent/NAME.',
  noun: 'agent',
  empty: (
    <>
      No agents yet. Create one: name it, then choose its model and its toolset. Or <a href={pathOf('import')}>import</a> a file.
    </>
  ),
  example: 'helpdesk',
  read: (query) => moniker.value.get('/v1/agents', { params: { query } }),
  row: ({ name, description, model, toolset }) => ({
    ...{ name, description },
    facts: toolset === undefined ? model : `${model} with ${toolset}`,
  }),
});

type AgentDraft = components['schemas']['AgentToWrite'];
type Limits = components['schemas']['AgentLimits'];
type Settings = components['schemas']['AgentSettings'];

const limitFields: readonly (readonly [name: Exclude<keyof Limits, 'onLimit'>, label: string])[] = [
  ['maxSteps', 'Steps of a turn'],
  ['maxCalls', 'Tool calls of a turn'],
  ['maxTokens', 'Tokens of a turn'],
  ['maxCost', 'Cost of a turn (USD)'],
  ['turnTimeoutMs', 'Time of a turn (ms)'],
  ['toolTimeoutMs', 'Time of a tool call (ms)'],
  ['maxContextTokens', 'Context before older turns are summarized (tokens)'],
];

const settingFields: readonly (readonly [name: 'temperature' | 'topP' | 'maxOutputTokens' | 'reasoningBudget', label: string])[] = [
  ['temperature', 'Temperature'],
  ['topP', 'Top P'],
  ['maxOutputTokens', 'Output tokens of a step'],
  ['reasoningBudget', 'Reasoning tokens of a step'],
];

function openAgent(name: string) {
  return openDocument(`agents ${name}`, {
    ...documentAt('/v1/agents/{agent}', { agent: name }),
    blank: { name, model: 'rehearsal/default', instructions: '' } as AgentDraft,
    toDraft: ({ warnings: _warnings, ...agent }) => agent,
    compare: (body, signal) => moniker.value.post('/v1/agents/{agent}/impact', { params: { path: { agent: name } }, body, signal }),
  });
}

/** The editor of an agent: what most agents need as fields, everything else as JSON. */
function AgentEditor({ name }: { name: string }) {
  const document = useMemo(() => openAgent(name), [name]);
  const talk = (): void => {
    chosenModel.value = `agent/${name}`;
    navigate(pathOf('chat'));
  };
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'agents', title: 'Agents', hasVersions: true }}
      notes={
        document.etag.value !== null && (
          <p class="actions">
            <button type="button" onClick={talk}>
              Chat with this agent
            </button>
          </p>
        )
      }
      fields={(draft) => <AgentFields draft={draft} edit={document.edit} />}
    />
  );
}

function AgentFields({ draft, edit }: { draft: AgentDraft; edit(next: AgentDraft): void }) {
  const toolsets = useNames((signal) => moniker.value.get('/v1/toolsets', { params: { query: { limit: 100 } }, signal }));
  const skills = useNames((signal) => moniker.value.get('/v1/skills', { params: { query: { limit: 100 } }, signal }));
  const models = useModels();
  const { limits = {}, settings = {} } = draft;
  const members = memberFields(draft, edit);
  const limit = memberFields<Limits>(limits, (next) => edit({ ...draft, limits: next }), 'limits.');
  const setting = memberFields<Settings>(settings, (next) => edit({ ...draft, settings: next }), 'settings.');
  return (
    <>
      {members.text('description', 'Description')}
      <div class="fields two">
        {members.requiredWord('model', 'Model', {
          suggestions: models.filter((id) => !id.startsWith('agent/')),
          placeholder: 'anthropic/claude-sonnet-4-5',
        })}
        {members.names('fallbacks', 'Fallbacks', { hint: 'Used in this order if the model fails.' })}
        {members.names('models', 'Only these models', {
          hint: 'Empty: all. Patterns with *, for models that an alias names.',
          placeholder: 'openai/gpt-5*',
        })}
        {members.word('toolset', 'Toolset', { hint: 'The newest version, or a fixed one such as demo@3.', suggestions: toolsets })}
        {members.names('skills', 'Skills', { placeholder: skills.join(', ') })}
      </div>
      {members.required('instructions', 'Instructions', { rows: 8, placeholder: 'Answer in one sentence.' })}
      <fieldset class="fields">
        <legend>Tools</legend>
        {members.check('made', 'Offer the made tools of the workspace')}
        {members.check('codeMode', 'Code mode', { hint: 'The model sees one tool, run_code, whose code calls the others.' })}
        {members.choice('protocol', 'Definitions are sent', [
          ['', 'as the provider’s profile says'],
          ['native', 'in the tool fields of the API'],
          ['text', 'in the prompt'],
        ])}
      </fieldset>
      <fieldset>
        <legend>Settings of the model</legend>
        <div class="fields two">
          {settingFields.map(([name, label]) => setting.number(name, label, { placeholder: 'default' }))}
          {setting.word('reasoningEffort', 'Reasoning effort', {
            suggestions: ['none', 'minimal', 'low', 'medium', 'high'],
            placeholder: 'default',
          })}
        </div>
      </fieldset>
      <fieldset>
        <legend>Limits</legend>
        <div class="fields two">
          {limitFields.map(([name, label]) => limit.number(name, label, { placeholder: 'default' }))}
          {limit.word('onLimit', 'When the cost is used', { suggestions: ['end', 'ask'], placeholder: 'end' })}
          <TimeoutFields draft={draft} edit={edit} placeholder="the provider’s" />
        </div>
      </fieldset>
    </>
  );
}
