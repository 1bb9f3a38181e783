/** The version that `/healthz` and the OpenAPI document report; a test checks that it equals `package.json`. */
export const version = '0.1.0';
