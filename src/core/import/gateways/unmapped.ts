/**
 * Why an import skips what other gateways have and Moniker does not. In one place, so that a feature that is added later is mapped in the
 * readers of all gateways.
 */
export const unmapped = {
  weight:
    'is not imported: of several models the one with the greatest weight is called first, and the next when it fails. To share the requests, write a model alias with `targets` (docs/routes.md)',
  routing:
    'is not imported: models are tried in their order, each when the one before it fails. A model alias with `targets` has strategies (docs/routes.md)',
  rateLimit: 'has no counterpart for one model: set `limits` of a key, an agent or the workspace',
  budget: 'has no counterpart for one model: set `limits.dailyCost` or `limits.monthlyCost` of a key, an agent or the workspace',
  retries: 'is not imported: failed requests are retried by built-in rules. A model alias with `targets` has `retries` (docs/routes.md)',
  cooldown:
    'is not imported: the next request asks a model again that has failed. The targets of a model alias are put aside by built-in rules (docs/routes.md)',
  contextFallback:
    'is not imported: an agent has one list of fallbacks for every failure. A model alias with `targets` has `contextFallback` (docs/routes.md)',
  cache: 'has no counterpart: responses are not cached',
  guardrail: 'is not imported: guards and redaction are described in docs/guards.md',
  logging: 'is not imported: requests are listed by GET /v1/requests, and exported with the settings of OpenTelemetry (docs/operating.md)',
  clientKey: 'is not imported: make the keys of clients with POST /v1/keys, with `models` and `limits`',
  connection: 'has no counterpart: connections to providers have built-in settings',
  program: 'is a setting of the program itself',
  parameter: 'has no default here: clients send it with their requests',
  cloud: 'is not supported: a cloud is asked with an access key, a client secret or the key of a service account (docs/clouds.md)',
} as const;
