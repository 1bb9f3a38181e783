/** The editor of a made tool. Its code is checked while it is written. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { DocumentText } from '../../parts/document-text.tsx';
import { CodeField, FieldIssues, NamesField, TextField } from '../../parts/fields.tsx';
import type { VersionsProps } from '../../parts/document-versions.tsx';
import { late } from '../../parts/late.tsx';
import { visible } from '../../parts/visible.ts';
import { Warnings } from '../../parts/warnings.tsx';
import { blankMadeTool, type MadeDraft, type MadeParameterDraft, toDefault, toMadeDraft } from './made-draft.ts';

const DocumentVersions = late<VersionsProps<MadeDraft>>(async () => (await import('../../parts/document-versions.tsx')).DocumentVersions);

type Written = components['schemas']['WrittenMadeTool'];

function openMadeTool(name: string) {
  const path = { canonical: `made.${name}` };
  /** Of the newest check: what the code may call, and what is doubtful. */
  const checked = signal<Pick<Written, 'uses' | 'warnings'>>({ uses: [], warnings: [] });
  const state = signal<string>('ready');
  const document = openDocument<MadeDraft>(`made ${name}`, {
    blank: blankMadeTool,
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/tools/{canonical}', { params: { path } });
      if (data === undefined) return rest;
      state.value = data.state;
      checked.value = { uses: data.made?.uses ?? [], warnings: [] };
      return { ...rest, data: toMadeDraft(data) };
    },
    check: async (draft, aborted) => {
      const query = { dryRun: 'true' as const };
      const written = await moniker.value.put('/v1/tools/{canonical}', { params: { path, query }, body: draft, signal: aborted });
      if ('uses' in written) checked.value = written;
    },
    write: (draft, header) => moniker.value.PUT('/v1/tools/{canonical}', { params: { path, header }, body: draft }),
    remove: (header) => moniker.value.DELETE('/v1/tools/{canonical}', { params: { path, header } }),
  });
  return { path, document, checked, state };
}

export function MadeToolEditor({ name }: { name: string }) {
  const { path, document, checked, state } = useMemo(() => openMadeTool(name), [name]);
  useEffect(() => void document.load(), [document, moniker.value]);
  const { draft, generation, problem, check } = document;
  const error = problem.value ?? check.value.error;
  const issues = error instanceof MonikerError ? error.issues : [];
  const { uses, warnings } = checked.value;
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="made" title="Made tools" name={name} />
      {state.value !== 'ready' && <p class="notice warn rounded">This tool is {state.value}: it cannot be called.</p>}
      <Warnings warnings={warnings} />
      {draft.value !== null && (
        <FieldIssues.Provider value={issues}>
          <MadeFields key={generation.value} draft={draft.value} edit={document.edit} />
          <p class="muted">
            {uses.length === 0 ? (
              'It calls no other tool.'
            ) : (
              <>
                It may call{' '}
                {uses.map((canonical, index) => (
                  <>
                    {index > 0 && ', '}
                    <code key={canonical}>{visible(canonical)}</code>
                  </>
                ))}
                , and nothing else.
              </>
            )}
          </p>
          {document.etag.value !== null && (
            <Disclosure title="Versions">
              <DocumentVersions
                document={document}
                list={() => moniker.value.get('/v1/tools/{canonical}/versions', { params: { path } })}
                read={async (version) =>
                  toMadeDraft(await moniker.value.get('/v1/tools/{canonical}', { params: { path, query: { version } } }))
                }
              />
            </Disclosure>
          )}
          <details>
            <summary>Document</summary>
            <DocumentText document={document} read={(value) => value as MadeDraft} rows={16} />
          </details>
        </FieldIssues.Provider>
      )}
    </div>
  );
}

function MadeFields({ draft, edit }: { draft: MadeDraft; edit(next: MadeDraft): void }) {
  const { uses: _uses, aliases: _aliases, ...rest } = draft;
  return (
    <div class="fields">
      <TextField
        label="Description"
        path="description"
        hint="Models choose tools by their descriptions."
        value={draft.description}
        onInput={(description) => edit({ ...draft, description })}
      />
      <ParameterTable parameters={draft.parameters ?? []} onChange={(parameters) => edit({ ...draft, parameters })} />
      <CodeField
        label="Implementation"
        path="implementation"
        rows={14}
        hint="The body of an async function: args has the arguments, await tools.NAME({…}) calls a tool and returns {success, output, error}, and the returned value is the result."
        value={draft.implementation}
        onInput={(implementation) => edit({ ...draft, implementation })}
      />
      <div class="fields two">
        <NamesField
          label="Aliases"
          path="aliases"
          hint="Used by toolsets that set none."
          value={draft.aliases ?? []}
          onInput={(aliases) => edit({ ...rest, ...(draft.uses && { uses: draft.uses }), ...(aliases.length > 0 && { aliases }) })}
        />
        <NamesField
          label="Tools that it may call"
          path="uses"
          hint="Empty: those that its code names."
          value={draft.uses ?? []}
          onInput={(uses) => edit({ ...rest, ...(draft.aliases && { aliases: draft.aliases }), ...(uses.length > 0 && { uses }) })}
        />
      </div>
    </div>
  );
}

const types = ['string', 'number', 'boolean', 'array', 'object'] as const;

type TableProps = { parameters: readonly MadeParameterDraft[]; onChange(parameters: MadeParameterDraft[]): void };

function ParameterTable({ parameters, onChange }: TableProps) {
  const change = (index: number, members: Partial<MadeParameterDraft>): void =>
    onChange(parameters.map((one, at) => (at === index ? { ...one, ...members } : one)));
  return (
    <div>
      <h2>Arguments</h2>
      {parameters.length > 0 && (
        <table class="grid parameters">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Description</th>
              <th scope="col">Default</th>
              <th scope="col">Required</th>
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {parameters.map((parameter, index) => (
              <ParameterRow
                key={index}
                parameter={parameter}
                label={`argument ${index + 1}`}
                onChange={(members) => change(index, members)}
                onRemove={() => onChange(parameters.filter((_one, at) => at !== index))}
              />
            ))}
          </tbody>
        </table>
      )}
      <button type="button" onClick={() => onChange([...parameters, { name: '', type: 'string', description: '', required: true }])}>
        Add an argument
      </button>
    </div>
  );
}

type RowProps = {
  parameter: MadeParameterDraft;
  label: string;
  onChange(members: Partial<MadeParameterDraft>): void;
  onRemove(): void;
};

function ParameterRow({ parameter: { name, type, description, required, default: value }, label, onChange, onRemove }: RowProps) {
  const initial = useSignal(value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));
  const common = { autocomplete: 'off', spellcheck: false };
  return (
    <tr>
      <td data-label="Name">
        <input
          {...common}
          aria-label={`Name of ${label}`}
          value={name}
          onInput={(event) => onChange({ name: event.currentTarget.value })}
        />
      </td>
      <td data-label="Type">
        <select
          aria-label={`Type of ${label}`}
          value={type}
          onChange={({ currentTarget }) => onChange({ type: types.find((one) => one === currentTarget.value) ?? 'string' })}
        >
          {types.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </td>
      <td data-label="Description">
        <input
          {...common}
          aria-label={`Description of ${label}`}
          value={description ?? ''}
          onInput={(event) => onChange({ description: event.currentTarget.value })}
        />
      </td>
      <td data-label="Default">
        <input
          {...common}
          aria-label={`Default of ${label}`}
          placeholder="none"
          value={initial.value}
          onInput={(event) => {
            initial.value = event.currentTarget.value;
            onChange({ default: toDefault(event.currentTarget.value) });
          }}
        />
      </td>
      <td data-label="Required">
        <input
          type="checkbox"
          aria-label={`${label} is required`}
          checked={required !== false}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
      </td>
      <td>
        <button type="button" class="plain" aria-label={`Remove ${label}`} onClick={onRemove}>
          Remove
        </button>
      </td>
    </tr>
  );
}
