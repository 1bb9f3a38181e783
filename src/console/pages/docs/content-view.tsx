import type { Content } from './reference.ts';
import type { SchemaMap } from './schema.ts';
import { SchemaView } from './schema-view.tsx';

/** The schema of each content type; types with the same schema are shown together. */
export function ContentView({ content, schemas }: { content: Content; schemas: SchemaMap }) {
  const groups = Map.groupBy(Object.entries(content), ([, { schema }]) => JSON.stringify(schema));
  return (
    <>
      {[...groups.values()].map((group) => {
        const types = group.map(([type]) => type);
        const schema = group[0]?.[1].schema;
        return (
          <div key={types.join()} class="content">
            <p class="content-types">
              {types.map((type) => (
                <code key={type}>{type}</code>
              ))}
            </p>
            {types.includes('text/event-stream') && schema?.type === 'string' ? (
              <p class="muted">Server-sent events.</p>
            ) : (
              schema !== undefined && <SchemaView schema={schema} schemas={schemas} />
            )}
          </div>
        );
      })}
    </>
  );
}
