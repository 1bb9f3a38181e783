/**
 * Why an import skips what other gateways have and Moniker does not. In one place, so that a feature that is added later is mapped in the
 * readers of all gateways.
 */
export const unmapped = {
  weight: 'has no effect: it counts among several deployments that share the requests by weight',
  routing: 'is not imported: how a model alias with `targets` chooses is described in docs/routes.md',
  rateLimit: 'has no counterpart for one model: set `limits` of a key, an agent or the workspace',
  budget: 'has no counterpart for one model: set `limits.dailyCost` or `limits.monthlyCost` of a key, an agent or the workspace',
  retries: 'is not imported: a model alias with `targets` has one number, `retries`, for all its models and failures (docs/routes.md)',
  cooldown: 'is not imported: models that fail are put aside by built-in rules (docs/routes.md)',
  contentFallback: 'has no counterpart: a reply that a provider refuses for its content is not asked of another model',
  cache:
    'is not imported: `cache` of a model alias answers equal requests, with a time of 60 s to 30 days, and no similar ones (docs/chat-apis.md)',
  guardrail: 'is not imported: guards and redaction are described in docs/guards.md',
  logging: 'is not imported: requests are listed by GET /v1/requests, and exported with the settings of OpenTelemetry (docs/operating.md)',
  clientKey: 'is not imported: make the keys of clients with POST /v1/keys, with `models` and `limits`',
  connection: 'has no counterpart: connections to providers have built-in settings',
  program: 'is a setting of the program itself',
  parameter: 'has no default here: clients send it with their requests',
  cloud: 'is not supported: a cloud is asked with an access key, a client secret or the key of a service account (docs/clouds.md)',
} as const;
