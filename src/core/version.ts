/** The version that `/healthz` and the OpenAPI document tell; a test holds it equal to `package.json`. */
export const version = '0.1.0';
