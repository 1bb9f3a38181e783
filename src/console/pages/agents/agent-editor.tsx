/** The editor of an agent: what most agents need as fields, everything else as JSON. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { loadModels, chosenModel, models } from '../../api/models.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { DocumentText } from '../../parts/document-text.tsx';
import { CheckField, ChoiceField, FieldIssues, NamesField, NumberField, TextField } from '../../parts/fields.tsx';
import type { VersionsProps } from '../../parts/document-versions.tsx';
import { late } from '../../parts/late.tsx';
import { Warnings } from '../../parts/warnings.tsx';
import { navigate, pathOf } from '../../router.ts';

const DocumentVersions = late<VersionsProps<AgentDraft>>(async () => (await import('../../parts/document-versions.tsx')).DocumentVersions);

type AgentDraft = components['schemas']['AgentToWrite'];
type Limits = components['schemas']['AgentLimits'];
type Settings = components['schemas']['AgentSettings'];

const limitFields: readonly (readonly [name: keyof Limits, label: string])[] = [
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
  const path = { agent: name };
  /** Problems of the stored agent in this workspace. */
  const warnings = signal<readonly components['schemas']['Warning'][]>([]);
  const document = openDocument<AgentDraft>(`agents ${name}`, {
    blank: { name, model: 'rehearsal/default', instructions: '' },
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/agents/{agent}', { params: { path } });
      if (data === undefined) return rest;
      const { warnings: found = [], ...agent } = data;
      warnings.value = found;
      return { ...rest, data: agent };
    },
    write: (draft, header) => moniker.value.PUT('/v1/agents/{agent}', { params: { path, header }, body: draft }),
    remove: (header) => moniker.value.DELETE('/v1/agents/{agent}', { params: { path, header } }),
  });
  return { document, warnings };
}

export function AgentEditor({ name }: { name: string }) {
  const { document, warnings } = useMemo(() => openAgent(name), [name]);
  useEffect(() => void document.load(), [document, moniker.value]);
  const { draft, etag, generation, problem } = document;
  const issues = problem.value instanceof MonikerError ? problem.value.issues : [];
  const talk = (): void => {
    chosenModel.value = `agent/${name}`;
    navigate(pathOf('chat'));
  };
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="agents" title="Agents" name={name} />
      {etag.value !== null && (
        <p class="actions">
          <button type="button" onClick={talk}>
            Chat with this agent
          </button>
        </p>
      )}
      <Warnings warnings={warnings.value} />
      {draft.value !== null && (
        <FieldIssues.Provider value={issues}>
          <AgentFields key={generation.value} draft={draft.value} edit={document.edit} />
          {etag.value !== null && (
            <Disclosure title="Versions">
              <DocumentVersions
                document={document}
                list={() => moniker.value.get('/v1/agents/{agent}/versions', { params: { path: { agent: name } } })}
                read={async (version) => {
                  const params = { path: { agent: name }, query: { version } };
                  const { warnings: _found, ...agent } = await moniker.value.get('/v1/agents/{agent}', { params });
                  return agent;
                }}
              />
            </Disclosure>
          )}
          <details>
            <summary>Document</summary>
            <DocumentText document={document} read={(value) => value as AgentDraft} rows={16} />
          </details>
        </FieldIssues.Provider>
      )}
    </div>
  );
}

function AgentFields({ draft, edit }: { draft: AgentDraft; edit(next: AgentDraft): void }) {
  const names = useNames();
  const { limits = {}, settings = {} } = draft;
  const change = (members: { [Name in keyof AgentDraft]?: AgentDraft[Name] | undefined }): void => edit(withMembers(draft, members));
  const setLimit = (name: keyof Limits, value: number | undefined): void => change({ limits: withMembers(limits, { [name]: value }) });
  const setSetting = (name: keyof Settings, value: Settings[keyof Settings]): void =>
    change({ settings: withMembers(settings, { [name]: value }) });
  return (
    <div class="fields">
      <TextField
        label="Description"
        path="description"
        value={draft.description ?? ''}
        onInput={(text) => change({ description: text || undefined })}
      />
      <div class="fields two">
        <TextField
          label="Model"
          path="model"
          value={draft.model}
          suggestions={models.value.filter((id) => !id.startsWith('agent/'))}
          placeholder="anthropic/claude-sonnet-4-5"
          onInput={(model) => change({ model: model.trim() })}
        />
        <NamesField
          label="Fallbacks"
          path="fallbacks"
          hint="Used in this order if the model fails."
          value={draft.fallbacks ?? []}
          onInput={(fallbacks) => change({ fallbacks: fallbacks.length > 0 ? fallbacks : undefined })}
        />
        <NamesField
          label="Only these models"
          path="models"
          hint="Empty: all. Patterns with *, for models that an alias names."
          placeholder="openai/gpt-5*"
          value={draft.models ?? []}
          onInput={(list) => change({ models: list.length > 0 ? list : undefined })}
        />
        <TextField
          label="Toolset"
          path="toolset"
          hint="The newest version, or a fixed one such as demo@3."
          value={draft.toolset ?? ''}
          suggestions={names.toolsets}
          onInput={(toolset) => change({ toolset: toolset.trim() || undefined })}
        />
        <NamesField
          label="Skills"
          path="skills"
          value={draft.skills ?? []}
          placeholder={names.skills.join(', ')}
          onInput={(skills) => change({ skills: skills.length > 0 ? skills : undefined })}
        />
      </div>
      <TextField
        label="Instructions"
        path="instructions"
        rows={8}
        value={draft.instructions ?? ''}
        placeholder="Answer in one sentence."
        onInput={(instructions) => change({ instructions })}
      />
      <fieldset class="fields">
        <legend>Tools</legend>
        <CheckField
          label="Offer the made tools of the workspace"
          path="made"
          value={draft.made === true}
          onInput={(made) => change({ made: made || undefined })}
        />
        <CheckField
          label="Code mode"
          path="codeMode"
          hint="The model sees one tool, run_code, whose code calls the others."
          value={draft.codeMode === true}
          onInput={(codeMode) => change({ codeMode: codeMode || undefined })}
        />
        <ChoiceField
          label="Definitions are sent"
          path="protocol"
          value={draft.protocol ?? ''}
          choices={[
            ['', 'as the provider’s profile says'],
            ['native', 'in the tool fields of the API'],
            ['text', 'in the prompt'],
          ]}
          onInput={(protocol) => change({ protocol: protocol === 'native' || protocol === 'text' ? protocol : undefined })}
        />
      </fieldset>
      <fieldset>
        <legend>Settings of the model</legend>
        <div class="fields two">
          {settingFields.map(([name, label]) => (
            <NumberField
              key={name}
              label={label}
              path={`settings.${name}`}
              placeholder="default"
              value={settings[name]}
              onInput={(value) => setSetting(name, value)}
            />
          ))}
          <TextField
            label="Reasoning effort"
            path="settings.reasoningEffort"
            value={settings.reasoningEffort ?? ''}
            suggestions={['none', 'minimal', 'low', 'medium', 'high']}
            placeholder="default"
            onInput={(effort) => setSetting('reasoningEffort', effort.trim() || undefined)}
          />
        </div>
      </fieldset>
      <fieldset>
        <legend>Limits</legend>
        <div class="fields two">
          {limitFields.map(([name, label]) => (
            <NumberField
              key={name}
              label={label}
              path={`limits.${name}`}
              placeholder="default"
              value={limits[name]}
              onInput={(value) => setLimit(name, value)}
            />
          ))}
        </div>
      </fieldset>
    </div>
  );
}

/** Names to choose from. Without the lists, a name can still be typed. */
function useNames(): { toolsets: readonly string[]; skills: readonly string[] } {
  const toolsets = useSignal<readonly string[]>([]);
  const skills = useSignal<readonly string[]>([]);
  useEffect(() => {
    const query = { limit: 100 };
    loadModels().catch(() => undefined);
    moniker.value.get('/v1/toolsets', { params: { query } }).then(
      ({ items }) => {
        toolsets.value = items.map(({ name }) => name);
      },
      () => undefined,
    );
    moniker.value.get('/v1/skills', { params: { query } }).then(
      ({ items }) => {
        skills.value = items.map(({ name }) => name);
      },
      () => undefined,
    );
  }, []);
  return { toolsets: toolsets.value, skills: skills.value };
}
