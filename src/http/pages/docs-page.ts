/** `/docs`: renders the OpenAPI document as one page without scripts. */
import { escapeHtml, htmlPage } from './html.ts';

/** The parts of our own OpenAPI document that the page shows. */
export type ApiDocument = {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, unknown> };
};

type Content = Record<string, { schema?: unknown; example?: unknown }>;
type Operation = {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: { description?: string } }[];
  requestBody?: { description?: string; content?: Content };
  responses: Record<string, { description: string; content?: Content }>;
};

export function docsPage(document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? '');
  const sections = (document.tags ?? []).map(({ name, description }) => {
    const items = (byTag.get(name) ?? []).map(({ method, path, operation }) => operationHtml(method, path, operation)).join('\n');
    return `<h2 id="${anchor(name)}">${escapeHtml(name)}</h2>\n<p>${inline(description ?? '')}</p>\n${items}`;
  });
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => `<details id="schema-${anchor(name)}"><summary><code>${escapeHtml(name)}</code></summary>${json(schema)}</details>`,
  );
  return htmlPage(
    `${document.info.title} API`,
    `<h1>${escapeHtml(document.info.title)} API ${escapeHtml(document.info.version)}</h1>
<nav><a href="/">Start</a><a href="/openapi.json">OpenAPI document</a></nav>
${paragraphs(document.info.description ?? '')}
<nav>${(document.tags ?? []).map(({ name }) => `<a href="#${anchor(name)}">${escapeHtml(name)}</a>`).join('')}<a href="#schemas">Schemas</a></nav>
${sections.join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.join('\n')}`,
  );
}

function operationHtml(method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code></td><td>${escapeHtml(parameter.in)}${parameter.required ? ', required' : ''}</td><td>${inline(parameter.description ?? parameter.schema?.description ?? '')}</td></tr>`,
  );
  const answers = Object.entries(operation.responses).map(
    ([status, answer]) =>
      `<tr><td><code>${escapeHtml(status)}</code></td><td>${inline(answer.description)}</td><td>${contentHtml(answer.content)}</td></tr>`,
  );
  return `<details id="${escapeHtml(operation.operationId)}"><summary><span class="method">${escapeHtml(method)}</span><code>${escapeHtml(path)}</code> <span class="muted">${inline(operation.summary ?? '')}</span></summary>
${paragraphs(operation.description ?? '')}
${parameters.length === 0 ? '' : `<table>${parameters.join('')}</table>`}
${operation.requestBody === undefined ? '' : `<p><b>Body</b> ${inline(operation.requestBody.description ?? '')} ${contentHtml(operation.requestBody.content)}</p>`}
<table>${answers.join('')}</table>
</details>`;
}

function contentHtml(content: Content | undefined): string {
  return Object.entries(content ?? {})
    .map(
      ([type, { schema, example }]) =>
        `<code>${escapeHtml(type)}</code> ${schemaHtml(schema)}${example === undefined ? '' : json(example)}`,
    )
    .join(' ');
}

function schemaHtml(schema: unknown): string {
  const reference = schema !== null && typeof schema === 'object' && '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined;
  if (reference !== undefined) return `<a href="#schema-${anchor(reference)}">${escapeHtml(reference)}</a>`;
  return schema === undefined ? '' : `<details><summary>Schema</summary>${json(schema)}</details>`;
}

function json(value: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`;
}

function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => `<p>${inline(part)}</p>`)
    .join('\n');
}

/** Renders `code` in backticks; all other text is shown unchanged. */
function inline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function anchor(name: string): string {
  return escapeHtml(name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'));
}
