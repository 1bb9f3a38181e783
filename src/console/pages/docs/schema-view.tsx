/** A schema as a tree: each row shows a field, and its parts on request, so that recursive schemas have no end to draw. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { InlineText, Prose } from '../../parts/text/prose.tsx';
import {
  allowedValues,
  dereference,
  type ApiSchema,
  limitPhrases,
  refName,
  type SchemaField,
  schemaParts,
  type SchemaMap,
  splitNull,
  typePhrase,
  variantName,
} from './schema.ts';

type ViewProps = { schema: ApiSchema; schemas: SchemaMap };

/** The whole schema of a body or of a page. `root`: its name where that is shown already. */
export function SchemaView({ schema, schemas, root }: ViewProps & { root?: string }) {
  const resolved = dereference(schema, schemas);
  return (
    <div class="schema">
      {root === undefined && typePhrase(schema) !== 'object' && (
        <p class="type-line">
          <SchemaType schema={schema} />
        </p>
      )}
      {resolved.description !== undefined && <Prose text={resolved.description} />}
      <SchemaFacts schema={resolved} />
      <SchemaChildren schema={schema} schemas={schemas} />
    </div>
  );
}

/** The type, in which names of schemas are links. */
export function SchemaType({ schema }: { schema: ApiSchema }) {
  const core = splitNull(schema).schema;
  const name = refName(core) ?? refName(core.items ?? {});
  const phrase = typePhrase(schema);
  if (name === null || !phrase.includes(name)) return <span class="type">{phrase}</span>;
  const [before = '', after = ''] = phrase.split(name);
  return (
    <span class="type">
      {before}
      <a href={`#schema/${name}`}>{name}</a>
      {after}
    </span>
  );
}

const maxListed = 24;

/** Default, allowed values, limits, pattern and example. */
export function SchemaFacts({ schema, example }: { schema: ApiSchema; example?: unknown }) {
  const core = splitNull(schema).schema;
  const values = allowedValues(core.items && !core.enum ? core.items : core);
  const limits = [...limitPhrases(core), ...limitPhrases(core.items ?? {}).map((phrase) => `each ${phrase}`)];
  const pattern = core.pattern ?? core.items?.pattern;
  const shown = example ?? (values.length === 0 && typeof core.example !== 'object' ? core.example : undefined);
  return (
    <>
      {values.length > 0 && (
        <p class="facts">
          <span class="muted">One of </span>
          {values.slice(0, maxListed).map((value) => (
            <code key={String(value)}>{JSON.stringify(value)}</code>
          ))}
          {values.length > maxListed && <span class="muted"> and {values.length - maxListed} more</span>}
        </p>
      )}
      {(limits.length > 0 || core.default !== undefined || shown !== undefined || pattern !== undefined) && (
        <p class="facts muted">
          {core.default !== undefined && (
            <span>
              Default <code>{JSON.stringify(core.default)}</code>
            </span>
          )}
          {limits.map((phrase) => (
            <span key={phrase}>{phrase}</span>
          ))}
          {pattern !== undefined && (
            <span>
              matches <code>{pattern}</code>
            </span>
          )}
          {shown !== undefined && (
            <span>
              Example <code>{typeof shown === 'string' ? shown : JSON.stringify(shown)}</code>
            </span>
          )}
        </p>
      )}
    </>
  );
}

function SchemaChildren({ schema, schemas }: ViewProps) {
  const parts = schemaParts(schema, schemas);
  if (parts.kind === 'none') return null;
  if (parts.kind === 'variants') return <SchemaVariants variants={parts.variants} schemas={schemas} />;
  if (parts.kind === 'values')
    return <SchemaRow field={{ name: 'any name', schema: parts.value, isRequired: false }} schemas={schemas} isName={false} />;
  return (
    <ul class="fields">
      {parts.fields.map((field) => (
        <li key={field.name}>
          <SchemaRow field={field} schemas={schemas} />
        </li>
      ))}
      {parts.rest !== null && Object.keys(parts.rest).length > 0 && (
        <li>
          <SchemaRow field={{ name: 'other names', schema: parts.rest, isRequired: false }} schemas={schemas} isName={false} />
        </li>
      )}
    </ul>
  );
}

function SchemaRow({
  field: { name, schema, isRequired },
  schemas,
  isName = true,
}: {
  field: SchemaField;
  schemas: SchemaMap;
  isName?: boolean;
}) {
  const isOpen = useSignal(false);
  const id = useId();
  const resolved = dereference(schema, schemas);
  const hasParts = schemaParts(schema, schemas).kind !== 'none';
  return (
    <div class="field">
      <p class="field-head">
        {isName ? <code class="name">{name}</code> : <em class="name">{name}</em>}
        <SchemaType schema={schema} />
        {isRequired && <span class="required">required</span>}
      </p>
      {resolved.description !== undefined && (
        <p class="prose">
          <InlineText text={resolved.description} />
        </p>
      )}
      <SchemaFacts schema={resolved} />
      {hasParts && (
        <button
          type="button"
          class="expand"
          aria-expanded={isOpen.value}
          aria-controls={isOpen.value ? id : undefined}
          aria-label={`${isOpen.value ? 'Hide' : 'Show'} fields of ${name}`}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          {isOpen.value ? 'Hide fields' : 'Show fields'}
        </button>
      )}
      {isOpen.value && (
        <div id={id} class="nested">
          <SchemaChildren schema={schema} schemas={schemas} />
        </div>
      )}
    </div>
  );
}

function SchemaVariants({ variants, schemas }: { variants: readonly ApiSchema[]; schemas: SchemaMap }) {
  const chosen = useSignal(0);
  const variant = variants[chosen.value];
  return (
    <div class="variants">
      <fieldset class="tabs">
        <legend class="muted">One of {variants.length}</legend>
        {variants.map((candidate, index) => (
          <button key={index} type="button" aria-pressed={index === chosen.value} onClick={() => (chosen.value = index)}>
            {variantName(candidate, schemas)}
          </button>
        ))}
      </fieldset>
      {/* The key starts each variant with closed rows. */}
      {variant !== undefined && (
        <SchemaView key={chosen.value} schema={variant} schemas={schemas} root={refName(variant) === null ? '' : undefined} />
      )}
    </div>
  );
}
