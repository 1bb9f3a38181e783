/** The fields of servers that are not MCP servers with an address: an OpenAPI document, definitions, or a command, which is only shown. Loaded on demand. */
import { useSignal } from '@preact/signals';
import { ChoiceField, TextField } from '../../parts/fields/fields.tsx';
import { JsonField } from '../../parts/fields/json-field.tsx';
import { withMembers } from '../../api/document.ts';
import { memberFields, membersOf } from '../../parts/fields/member-fields.tsx';
import { visible } from '../../parts/text/visible.ts';
import { parseDefinitions, rootsText, type FieldsProps, type ServerDraft } from './server-draft.ts';

export function OpenApiFields({ draft, edit }: FieldsProps) {
  const { document } = draft;
  const lists = membersOf(draft, edit);
  const members = memberFields(draft, edit);
  const isPasted = useSignal(document !== undefined);
  const paste = (pasted: boolean): void => {
    isPasted.value = pasted;
    edit(withMembers(draft, pasted ? { url: undefined, document: '' } : { url: '', document: undefined }));
  };
  return (
    <>
      <ChoiceField
        label="The document is"
        path="kind"
        value={isPasted.value ? 'pasted' : 'address'}
        choices={[
          ['address', 'at an address, and read every hour'],
          ['pasted', 'pasted here'],
        ]}
        onInput={(choice) => paste(choice === 'pasted')}
      />
      {isPasted.value ? (
        <TextField
          label="Document (JSON or YAML)"
          path="document"
          rows={12}
          isCode
          value={typeof document === 'string' ? document : JSON.stringify(document ?? {}, null, 2)}
          onInput={(text) => edit({ ...draft, document: text })}
        />
      ) : (
        members.requiredWord('url', 'Address of the document', {
          hint: 'OpenAPI 3.0 or 3.1, or Swagger 2.0, as JSON or YAML.',
          placeholder: 'https://api.example.com/openapi.json',
        })
      )}
      {members.word('baseUrl', 'Base URL of the operations', { placeholder: 'the first of servers in the document' })}
      <div class="fields two">
        {(['include', 'exclude'] as const).map((member) => (
          <LinesField
            key={member}
            label={member === 'include' ? 'Only these operations' : 'Not these operations'}
            hint="One a line: a tool name, an operation id, tag:NAME, or GET /path/*."
            {...lists.names(member)}
          />
        ))}
      </div>
    </>
  );
}

type LinesProps = { label: string; path: string; hint: string; value: readonly string[]; onInput(lines: string[]): void };

function LinesField({ value, onInput, ...rest }: LinesProps) {
  const text = useSignal(value.join('\n'));
  return (
    <TextField
      {...rest}
      rows={3}
      isCode
      value={text.value}
      onInput={(typed) => {
        text.value = typed;
        onInput(
          typed
            .split('\n')
            .map((line) => line.trim())
            .filter((line) => line !== ''),
        );
      }}
    />
  );
}

export function StaticFields({ draft, edit }: FieldsProps) {
  const members = memberFields(draft, edit);
  return (
    <>
      {members.requiredWord('url', 'Endpoint', {
        hint: 'Each call is one POST of its name and arguments.',
        placeholder: 'https://tools.example.com/call',
      })}
      <JsonField
        label="Definitions (JSON)"
        path="tools"
        rows={14}
        hint="As in the result of MCP’s tools/list."
        value={draft.tools ?? []}
        read={parseDefinitions}
        onInput={(tools) => edit({ ...draft, tools })}
      />
    </>
  );
}

/** A page cannot change what the machine runs. */
export function CommandShown({
  draft: { command = '', args = [], env = {}, cwd, instances = 'session', roots, sampling },
}: {
  draft: ServerDraft;
}) {
  const shown = (value: string | { secret: string } | { hidden: string }): string => {
    if (typeof value === 'string') return value;
    return 'hidden' in value ? '(hidden)' : `(secret ${value.secret})`;
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${shown(value)}`);
  return (
    <div class="field">
      <span>Command of the machine that Moniker runs on</span>
      <pre>{visible([...variables, command, ...args.map(shown)].join(' '))}</pre>
      <small class="hint">
        {cwd !== undefined && <>In {visible(cwd)}. </>}
        {instances === 'shared' ? 'One process for all. ' : `A process for each ${instances}. `}
        {roots !== undefined && <>Roots: {visible(rootsText(roots))}. </>}
        {sampling === true && <>It may request completions. </>}
        Only the machine itself can change it: with <code>moniker add server</code> or a project file.
      </small>
    </div>
  );
}
