/** Templates of triggers, parsed: text with places for what an event holds. */

/** Made by `parseTemplate`; rendered by `render-template.ts`. */
export type Template = { readonly nodes: readonly TemplateNode[] };

/** `json`: written as JSON. `path` begins at the event, at `this` within `each`, or at a value of ours (`@delivery`). */
export type TemplateNode =
  | { kind: 'text'; text: string }
  | { kind: 'value'; path: TemplatePath; json: boolean }
  | { kind: 'each'; path: TemplatePath; body: readonly TemplateNode[]; otherwise: readonly TemplateNode[] }
  | { kind: 'if'; path: TemplatePath; body: readonly TemplateNode[]; otherwise: readonly TemplateNode[] };

/** `text` as it was written. */
export type TemplatePath = { text: string; from: 'event' | 'this' | 'own'; steps: readonly (string | number)[] };

/** What an event offers to templates and filters. `own`: values that begin with `@`: delivery, event, webhook, schedule, time, headers, body. */
export type TriggerScope = { payload: unknown; own: Readonly<Record<string, unknown>> };
