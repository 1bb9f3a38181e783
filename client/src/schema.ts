/**
 * The types of the service's OpenAPI document (`/openapi.json`): `npm run client` writes this file with openapi-typescript.
 * Do not edit it.
 */

export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The console
         * @description The console
         */
        get: operations["getStartPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of the authorization server
         * @description RFC 8414.
         */
        get: operations["getAuthorizationServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of an MCP endpoint as a protected resource
         * @description RFC 9728. It does not tell whether the toolset exists.
         */
        get: operations["getMcpResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/mcp/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of an MCP endpoint as a protected resource
         * @description RFC 9728. It does not tell whether the toolset exists.
         */
        get: operations["getToolsetResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/mcp/{workspace}/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of an MCP endpoint as a protected resource
         * @description RFC 9728. It does not tell whether the toolset exists.
         */
        get: operations["getWorkspaceToolsetResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of an MCP endpoint as a protected resource
         * @description RFC 9728. It does not tell whether the toolset exists.
         */
        get: operations["getSseResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/sse/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of an MCP endpoint as a protected resource
         * @description RFC 9728. It does not tell whether the toolset exists.
         */
        get: operations["getToolsetSseResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/sse/{workspace}/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of an MCP endpoint as a protected resource
         * @description RFC 9728. It does not tell whether the toolset exists.
         */
        get: operations["getWorkspaceSseResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/openid-configuration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metadata of the authorization server
         * @description The same document with the members that OpenID Connect requires, for clients that look here. No ID tokens are issued.
         */
        get: operations["getOpenIdConfiguration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agui/{agent}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run an agent (AG-UI)
         * @description For `HttpAgent` of AG-UI 1.0: text, reasoning, calls of server tools with their results, and calls of the client’s own `tools`. A call that requires approval ends the run with an interrupt, which `resume` of the next run answers with `{"approved": true}` or `{"approved": false}` (`cancelled` denies), with the scope `approve`. An answer that is invalid, too late, or other than the decision that was made elsewhere is `RUN_ERROR`; other errors before the stream are problems. The session is found by the ids of interrupts and messages. `state` and `forwardedProps` are not sent to models.
         *
         *     Scope: `chat`.
         */
        post: operations["runAgUi"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approve/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the call of an approval link
         * @description A page, or JSON with `Accept: application/json`. Does not decide the call or use up the link.
         */
        get: operations["showApproval"];
        put?: never;
        /**
         * Decide a call by a link
         * @description A form or JSON. Works once; afterwards the link is invalid. Pages of other sites are rejected.
         */
        post: operations["decideByLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A script or a style of a page
         * @description A script or a style of a page
         */
        get: operations["getPageFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/pages.css": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The style of the pages
         * @description The style of the pages
         */
        get: operations["getPagesCss"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connect/{server}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The page to connect an account to a server
         * @description Asks who the user is and starts nothing.
         */
        get: operations["showConnect"];
        put?: never;
        /**
         * Start connecting an account to a server
         * @description The form of the page, with the API key. Requests of other sites are rejected. The browser that sends it must finish the sign-in.
         */
        post: operations["startConnect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The console
         * @description The console
         */
        get: operations["getConsole"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page of the console
         * @description Every path returns the same document, whose script shows the page.
         */
        get: operations["getConsolePage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The API reference as a page
         * @description The API reference as a page
         */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service is running
         * @description Check that the service is running
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/{workspace}/{webhook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event
         * @description Signed according to the webhook’s scheme. An unknown name and an invalid signature both return 404. Events that do not match the filter are accepted and stored as `ignored`. 600 requests without a valid signature from one address, or 3,000 to one webhook, are followed by 429 until their minute is over.
         */
        post: operations["receiveDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listen to an MCP session
         * @description For the 2025 revisions: messages that the session starts, such as list changes. `Last-Event-ID` resumes after a disconnect. Requires a session.
         *
         *     Scope: `tools`.
         */
        get: operations["listenEquippedMcp"];
        put?: never;
        /**
         * Send an MCP message
         * @description Supports any MCP client (Streamable HTTP) with revision 2026-07-28 or the revisions of 2024 and 2025. `tools/list` shows the tools under their names; `tools/call` accepts any name that resolves. Errors are JSON-RPC. Pages of other origins are rejected.
         *
         *     Scope: `tools`.
         */
        post: operations["sendEquippedMcp"];
        /**
         * End an MCP session
         * @description For the 2025 revisions. Revision 2026-07-28 has no sessions.
         *
         *     Scope: `tools`.
         */
        delete: operations["endEquippedMcp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listen to an MCP session
         * @description For the 2025 revisions: messages that the session starts, such as list changes. `Last-Event-ID` resumes after a disconnect. Requires a session.
         *
         *     Scope: `tools`.
         */
        get: operations["listenMcp"];
        put?: never;
        /**
         * Send an MCP message
         * @description Supports any MCP client (Streamable HTTP) with revision 2026-07-28 or the revisions of 2024 and 2025. `tools/list` shows the tools under their names; `tools/call` accepts any name that resolves. Errors are JSON-RPC. Pages of other origins are rejected.
         *
         *     Scope: `tools`.
         */
        post: operations["sendMcp"];
        /**
         * End an MCP session
         * @description For the 2025 revisions. Revision 2026-07-28 has no sessions.
         *
         *     Scope: `tools`.
         */
        delete: operations["endMcp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/{workspace}/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listen to an MCP session
         * @description For the 2025 revisions: messages that the session starts, such as list changes. `Last-Event-ID` resumes after a disconnect. Requires a session.
         *
         *     Scope: `tools`.
         */
        get: operations["listenWorkspaceMcp"];
        put?: never;
        /**
         * Send an MCP message
         * @description Supports any MCP client (Streamable HTTP) with revision 2026-07-28 or the revisions of 2024 and 2025. `tools/list` shows the tools under their names; `tools/call` accepts any name that resolves. Errors are JSON-RPC. Pages of other origins are rejected.
         *
         *     Scope: `tools`.
         */
        post: operations["sendWorkspaceMcp"];
        /**
         * End an MCP session
         * @description For the 2025 revisions. Revision 2026-07-28 has no sessions.
         *
         *     Scope: `tools`.
         */
        delete: operations["endWorkspaceMcp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Requests, durations, tokens, tool calls by verdict, and work in progress, since the start. Requires `MONIKER_METRICS=on` and a service that was started with `npm start`; deployed services export metrics over OTLP.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/moniker.schema.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The JSON Schema of project files
         * @description For editors: name this URL in `$schema` of a `moniker.json`, or in a comment `# yaml-language-server: $schema=…`.
         */
        get: operations["getProjectSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask the user whether an MCP client may connect
         * @description For browsers, with the parameters of OAuth 2.1. Without a sign-in it redirects to `/sign-in`.
         */
        get: operations["showConsent"];
        put?: never;
        /**
         * Allow or deny an MCP client
         * @description The form of the page, with the same query. Redirects to the client.
         */
        post: operations["decideConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete a sign-in
         * @description For browsers, with the parameters of the authorization server: `code` or `error`, `state`, `iss`.
         */
        get: operations["finishSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/client.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Client metadata for authorization servers
         * @description Its URL is the client id for servers that support it (Client ID Metadata Documents).
         */
        get: operations["getClientMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Signing keys of ID tokens
         * @description Empty: no ID tokens are issued. OpenID Connect requires the document.
         */
        get: operations["getSigningKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register an MCP client
         * @description RFC 7591. Nothing is stored: the `client_id` contains the metadata and is signed. Redirect URIs are https, http on a loopback address, or of a private-use scheme that the operator allows. Others are left out of the registration and of the response; if none remains: `invalid_redirect_uri` with the reason.
         */
        post: operations["registerClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a token
         * @description RFC 7009. A refresh token ends its grant with all tokens; an access token ends alone, within 30 seconds.
         */
        post: operations["revokeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a code or a refresh token for tokens
         * @description RFC 6749 with PKCE (S256) and `resource` (RFC 8707). A code works once, and a refresh token until its replacement is used; using one again ends the grant. An access token is valid for an hour, a refresh token for 30 days.
         */
        post: operations["redeemToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description This document
         */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service can do its work
         * @description Checks the storage (the Catalog), KV, and whether the root key and the master key are set. Each check has a timeout of 2 s, and a result is reused for 1 s. The log has the causes of failures.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sign in with a browser
         * @description A page, or with `Accept: application/json` who is signed in, and the identity providers.
         */
        get: operations["showSignIn"];
        put?: never;
        /**
         * Sign in with the root key
         * @description The form of the page. Sets the cookie and redirects to `to`.
         */
        post: operations["signInWithRootKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-in/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sign in with an identity provider
         * @description Sign in with an identity provider
         */
        get: operations["beginSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-in/{provider}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return from an identity provider
         * @description For browsers, with the parameters of the identity provider: `code` or `error`, `state`, `iss`.
         */
        get: operations["endSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign out
         * @description Removes the cookie, ends the sign-in for every holder of the cookie within 30 seconds, and redirects to `/sign-in`.
         */
        post: operations["signOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Connect an MCP client of revision 2024-11-05
         * @description HTTP+SSE, for clients that know no Streamable HTTP. `Last-Event-ID` continues a connection that broke. A stream on which nothing is sent for 30 minutes ends.
         *
         *     Scope: `tools`.
         */
        get: operations["openEquippedSse"];
        put?: never;
        /**
         * Send a message of revision 2024-11-05
         * @description Answers follow on the stream of the connection. At most 64 messages of a connection are in flight.
         *
         *     Scope: `tools`.
         */
        post: operations["sendEquippedSse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sse/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Connect an MCP client of revision 2024-11-05
         * @description HTTP+SSE, for clients that know no Streamable HTTP. `Last-Event-ID` continues a connection that broke. A stream on which nothing is sent for 30 minutes ends.
         *
         *     Scope: `tools`.
         */
        get: operations["openSse"];
        put?: never;
        /**
         * Send a message of revision 2024-11-05
         * @description Answers follow on the stream of the connection. At most 64 messages of a connection are in flight.
         *
         *     Scope: `tools`.
         */
        post: operations["sendSse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sse/{workspace}/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Connect an MCP client of revision 2024-11-05
         * @description HTTP+SSE, for clients that know no Streamable HTTP. `Last-Event-ID` continues a connection that broke. A stream on which nothing is sent for 30 minutes ends.
         *
         *     Scope: `tools`.
         */
        get: operations["openWorkspaceSse"];
        put?: never;
        /**
         * Send a message of revision 2024-11-05
         * @description Answers follow on the stream of the connection. At most 64 messages of a connection are in flight.
         *
         *     Scope: `tools`.
         */
        post: operations["sendWorkspaceSse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description Scope: `toolsets`.
         */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a agent
         * @description Scope: `toolsets`.
         */
        get: operations["getAgent"];
        /**
         * Create or replace a agent
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        put: operations["putAgent"];
        post?: never;
        /**
         * Delete a agent
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        delete: operations["deleteAgent"];
        options?: never;
        head?: never;
        /**
         * Change members of a agent
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        patch: operations["patchAgent"];
        trace?: never;
    };
    "/v1/agents/{agent}/impact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare a draft of an agent with past calls
         * @description Resolves every name that turns of the agent called in the last days as a turn of the stored agent and one of the draft would: with their toolset, `tools`, skills, made tools and code mode. Nothing is stored, and no model is called. For a key that sees only its own usage, only its own calls count.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        post: operations["getAgentImpact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of the agent, newest first
         * @description As many are kept as `settings.retention.versions` of the workspace says. Deleting the document deletes them.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["listAgentVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ai-sdk/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue a chat of a user interface (AI SDK)
         * @description For `useChat` and `DefaultChatTransport` of the AI SDK: set `api` to this URL, `headers` to the key, and `body` to `{"model": "agent/<name>"}`. Returns the UI message stream, version 1: text, reasoning, calls of server tools as `dynamic-tool` parts with their results, and calls of the client’s own `tools`. A call that requires approval is a `tool-approval-request`; after `addToolApprovalResponse`, the next request decides it, with the scope `approve`, and continues the message. `conflict`: it was decided otherwise. The session is found by the ids of the messages. Errors before the stream are problems, later ones `error` chunks.
         *
         *     Scope: `chat`.
         */
        post: operations["createUiMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what calls of all sessions wait for
         * @description Approvals, requests for input and calls of clients: pending, newest question first, or decided, newest decision first. Only of sessions in which the key can decide. A copy that is a few seconds old at most. All pending ones are listed. Of the decided ones 10,000 are kept; beyond that, the oldest ones of the key that has the most are removed.
         *
         *     Scope: `approve` or `chat`.
         */
        get: operations["listInbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/speech": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create speech from text
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["createSpeech"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Transcribe audio
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["createTranscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Translate audio to English text
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["createTranslation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tool calls, rejections, approval decisions and configuration changes, newest first
         * @description A call that may have an effect has its row before the effect, with verdict `outcome_unknown` until its outcome is recorded. A change is recorded in the transaction that makes it. Rows contain a hash of the arguments, and no secret or key values. A request reads a limited number of rows: with filters, a page can be short or empty while `nextCursor` is set.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that no audit row was changed, removed or inserted
         * @description The audit consists of several logs. Each row has a hash of its content and of the row before it, and the newest rows are signed every minute. A request checks a limited number of rows and stops at the first broken row; continue with `nextCursor` until it is null. Rows of releases before the signed logs are not checked.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["verifyAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a page of the archive of the workspace
         * @description The archive has the documents with their versions, keys (hashed), secrets (encrypted with MONIKER_MASTER_KEY), sessions with files and approvals, deliveries, callbacks, the audit and the usage. Join the pages in their order: the last one has no `x-next-cursor`. A page that failed can be requested again with the same cursor. Sessions are not encrypted in it.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        get: operations["readBackup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/callbacks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List callbacks, newest first
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listCallbacks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/callbacks/{callback}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a callback with its body
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getCallback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/callbacks/{callback}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a callback now
         * @description For a dead callback, or one that waits for its next attempt. Returns 409 if it was delivered, and 403 for a key with `egressHosts`, `ips` or `models`.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["retryCallback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a chat completion (OpenAI)
         * @description `model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside Moniker and the response is one assistant message. Otherwise the request is sent to the provider: unchanged if it supports Chat Completions, otherwise translated. Calls of the caller’s own `tools` are the only `tool_calls` in the response: send their results with the preceding messages, or alone with the session. If a call requires approval, the response ends with a sentence that names it, and the next request continues. Errors have the OpenAI format.
         *
         *     Scope: `chat`.
         */
        post: operations["createChatCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a stored completion
         * @description For completions of a session. Returns a document when it has ended; with `after`, `Last-Event-ID` or `Accept: text/event-stream`, returns its chunks after the given one, byte for byte as first sent.
         *
         *     Scope: `chat`.
         */
        get: operations["getChatCompletion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries of all webhooks, newest first
         * @description Without payloads. A filtered page may have fewer items than `limit` although more follow.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listAllDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create embeddings
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["createEmbeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all documents
         * @description A project file, which `POST /v1/import` and `moniker apply` read. Variables such as `TOKEN` stand for the values of secrets, and `SERVER_FILES_SEED_PHRASE` for values that GET hides. Keys, sessions, private tools and sign-ins are not part of it; the settings of the workspace are, for the root key.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["exportProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the connected MCP clients
         * @description Newest first. A person sees their own, keys with the scope `admin` all of the workspace.
         *
         *     Scope: `tools` or `admin`.
         */
        get: operations["listGrants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants/{grant}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Disconnect an MCP client
         * @description Its tokens are rejected everywhere within 30 seconds. The user has to sign in again.
         *
         *     Scope: `tools` or `admin`.
         */
        delete: operations["endGrant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/edits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Edit images
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["editImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/generations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create images
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["createImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/variations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create variations of an image
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["createImageVariation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a file
         * @description Writes the documents of a file: a project file, or a file of another system (`docs/import.md`), as JSON, YAML or a zip archive. They are merged into stored documents of the same name: what was changed here since the last import of the file stays, and is listed in `kept`. A project file replaces them. What cannot be taken is `skipped`, with the reason. The key needs the rights for each document.
         *
         *     Scope: `toolsets` or `admin`.
         */
        post: operations["importFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List keys
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create a key
         * @description A key bound to `agents` can use those agents and their tools, and cannot write anything. A key bound to `toolsets` can use those toolsets and, with the scope, write them; it can list only tools that they have. Bound keys see only their own sessions and no workspace-wide resources, even with the scope `admin`.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a key
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description The key is rejected everywhere within 30 seconds, and its open event streams end within that time. Turns that it has started, including queued ones, continue with the rights that they were accepted with. For a leaked key, use `cancel=true`, which ends every running, waiting or queued turn in its sessions, and its open MCP calls. Remaining work is done in the background, and survives a restart.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        /**
         * Change a key
         * @description A change applies to requests that arrive after it, everywhere within 30 seconds. Turns that were accepted before keep the rights that they were accepted with. `expiresAt: null` removes the expiry. The root key and revoked keys cannot be changed (409).
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchKey"];
        trace?: never;
    };
    "/v1/keys/{key}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a key
         * @description The id, the rights and the expiry stay, and so the key keeps its sessions. The previous secret works until `previousExpiresAt`, so that clients can be changed one after the other; `previousUsedAt` shows whether one still sends it. A rotation also ends secrets of earlier rotations that would work longer. Revoked and expired keys cannot be rotated (409).
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List limits and what is used of them
         * @description Any key sees its own limits. Unbound keys with the scope `admin` see those of the workspace and of all its keys and agents.
         *
         *     Scope: `chat` or `tools` or `toolsets` or `approve` or `admin`.
         */
        get: operations["listLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/master-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of the master key
         * @description Only for the root key.
         *
         *     Scope: `admin`.
         */
        get: operations["getMasterKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/master-key/reseal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal everything with the current master key
         * @description After MONIKER_MASTER_KEY was changed and MONIKER_MASTER_KEY_PREVIOUS set to the key before it: seals all secrets, provider keys, tokens and signing secrets of all workspaces again, and signs the audit again, in the background. It survives restarts, and calls are served meanwhile. Repeating it starts from the beginning. API keys stay valid.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        post: operations["resealWithMasterKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the key of this request
         * @description Any key may read itself: its scopes, its bindings, when it expires, and the limits that apply to it.
         *
         *     Scope: `chat` or `tools` or `toolsets` or `approve` or `admin`.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the servers that require an account of yours
         * @description The servers with `oauth.per: "user"` that this key has tools of, with the state of your connection to each.
         *
         *     Scope: `chat` or `tools`.
         */
        get: operations["listMyConnections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/connections/{server}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start connecting an account of yours to a server
         * @description For a server with `oauth.per: "user"`. An existing connection remains until the new one is complete.
         *
         *     Scope: `chat` or `tools`.
         */
        post: operations["connectServer"];
        /**
         * End your connection to a server
         * @description Its tokens are deleted here, and revoked at their issuer if possible (RFC 7009). Other isolates stop sending them within a minute.
         *
         *     Scope: `chat` or `tools`.
         */
        delete: operations["disconnectServer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List members
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{member}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a member
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getMember"];
        /**
         * Create or replace a member
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putMember"];
        post?: never;
        /**
         * Delete a member
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteMember"];
        options?: never;
        head?: never;
        /**
         * Change members of a member
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchMember"];
        trace?: never;
    };
    "/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a message (Anthropic)
         * @description `model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside Moniker and the response is one assistant message. Otherwise the request is sent to the provider: unchanged to one of kind `anthropic`, translated to all others. Calls of the caller’s own `tools` are the only `tool_use` blocks in the response: send their results with the preceding messages, or alone with the session. Tools that only Anthropic runs (by `type`) and PDFs are supported if the request is sent to Anthropic unchanged. Messages that end with an assistant message are continued without server tools and session, if the model supports it. If a call requires approval, the response ends with a sentence that names it, and the next request continues. `thinking` blocks may be sent back or omitted. The key may also be sent as `x-api-key`. Errors have Anthropic’s format.
         *
         *     Scope: `chat`.
         */
        post: operations["createMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a stored message
         * @description An extension of Anthropic’s API, for messages of a session. Returns a document when it has ended; with `after`, `Last-Event-ID` or `Accept: text/event-stream`, returns its events after the given one, byte for byte as first sent.
         *
         *     Scope: `chat`.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Count the tokens of a request
         * @description Returns the provider’s count if it is of kind `anthropic` and the request names its model; otherwise an estimate, marked `estimated`. Runs no model.
         *
         *     Scope: `chat`.
         */
        post: operations["countMessageTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/model-aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List model aliases
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listModelAliases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/model-aliases/{alias}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a model alias
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getModelAlias"];
        /**
         * Create or replace a model alias
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putModelAlias"];
        post?: never;
        /**
         * Delete a model alias
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteModelAlias"];
        options?: never;
        head?: never;
        /**
         * Change members of a model alias
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchModelAlias"];
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents and models
         * @description Aliases without `*`, agents, and the models of all providers that are no alias: those of a provider’s `models`, or else those that the provider itself lists (cached for five minutes; a provider that does not respond within five seconds is left out).
         *
         *     Scope: `chat`.
         */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a model
         * @description Scope: `chat`.
         */
        get: operations["getModel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Classify text or images
         * @description Passed to the provider of the model, which must be of kind `openai`, `openai-responses` or `openai-compatible`, with its key. The reply is passed back unchanged, also as a stream or as binary data.
         *
         *     Scope: `chat`.
         */
        post: operations["createModeration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the rules of the workspace
         * @description The response can be sent back with PUT unchanged. Remembered approvals are rules at its end.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getPolicy"];
        /**
         * Write the rules of the workspace
         * @description A rule applies when all its fields match. `deny` takes precedence over `ask`, `ask` over `allow`, and `allow` over the defaults, whatever their order; POST /v1/policy/test shows which rule decides.  A change takes effect within 90 seconds, and immediately on the instance that received it; a call in progress uses the rules that it started with.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putPolicy"];
        post?: never;
        /**
         * Delete all rules of the workspace
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deletePolicy"];
        options?: never;
        head?: never;
        /**
         * Change members of the policy
         * @description `rules` is a list, which is replaced as a whole.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchPolicy"];
        trace?: never;
    };
    "/v1/policy/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the known hosts
         * @description Hosts that approvals made known: requests to them are not asked about as new. Each is forgotten a year after its approval.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listKnownHosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/hosts/{host}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Forget a known host
         * @description The next request to it requires approval again, unless a rule allows it.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["forgetKnownHost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/impact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare rules with past calls
         * @description Judges the calls of the last days by the stored rules and by those of the body, and returns the calls whose decision differs. Calls are judged by their counts; those of `builtin` tools for files and requests by their arguments, as the logs of sessions have them. The taint rule is left out, and files are taken as new. Nothing runs and nothing is stored.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["getPolicyImpact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test the policy
         * @description For a call (`tool` and its `arguments`; `builtin.bash` runs on temporary files) or for a single effect, for example `{"effect": {"kind": "network", "host": "api.example.com", "method": "POST"}}`. The response names the deciding rule and the reason. With `policy`, rules are tested before they are written, and a key with the scope `admin` gets the `warnings` of the write. Nothing is sent, called or written.
         *
         *     Scope: `tools`.
         */
        post: operations["testPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of the policy, newest first
         * @description As many are kept as `settings.retention.versions` of the workspace says. Deleting the document deletes them.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listPolicyVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/programs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the processes of commands
         * @description The processes that the launcher runs for the servers of the workspace with a `command`. A deployed Worker has none.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listPrograms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/programs/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find programs that are to end
         * @description Sent by the launcher of `npm start` and `moniker start`, which runs the commands of servers and ends the programs in `unwanted`: those of servers, secrets and workspaces that were changed or deleted.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        post: operations["checkPrograms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List projects
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listProjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what a project owns
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getProject"];
        /**
         * Apply a project
         * @description Checks all documents, then writes them in one transaction: all or none. Afterwards its servers list their tools, and toolsets that need these tools are written; one that still cannot be written is `skipped`, and written when the project is applied again. Documents that others wrote or changed since are `kept`. `moniker apply` sends this request.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putProject"];
        post?: never;
        /**
         * Forget a project
         * @description Its documents stay, and belong to no project, unless `documents=true`.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteProject"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List providers
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a provider
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getProvider"];
        /**
         * Create or replace a provider
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putProvider"];
        post?: never;
        /**
         * Delete a provider
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteProvider"];
        options?: never;
        head?: never;
        /**
         * Change members of a provider
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchProvider"];
        trace?: never;
    };
    "/v1/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List replays
         * @description The replays of the key, newest first; for an unbound key with scope `admin`, all of the workspace. A copy that is a few seconds old at most. A replay is stored for 90 days.
         *
         *     Scope: `chat`.
         */
        get: operations["listReplays"];
        put?: never;
        /**
         * Start a replay
         * @description Runs recorded turns and requests again with what `with` replaces. Their calls of tools are answered from the recording: no tool is called, no approval asked for, and nothing written. Models are called, and count for the key and its limits. A key replays what it can read: its own work, or all work for an unbound key with scope `admin`. Drafts and `run-safe` require an unbound key.
         *
         *     Scope: `chat`.
         */
        post: operations["startReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replay}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a replay
         * @description Scope: `chat`.
         */
        get: operations["getReplay"];
        put?: never;
        post?: never;
        /**
         * Delete a replay
         * @description Ends it if it runs.
         *
         *     Scope: `chat`.
         */
        delete: operations["deleteReplay"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replay}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay
         * @description Cases that run are aborted, and those that wait are skipped. Has no effect on a replay that has ended.
         *
         *     Scope: `chat`.
         */
        post: operations["cancelReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replay}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the cases of a replay
         * @description Scope: `chat`.
         */
        get: operations["listReplayCases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replay}/cases/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare both sides of a case
         * @description The recorded side is read from its session or from the request log. When that is gone, the contents of both sides are, too.
         *
         *     Scope: `chat`.
         */
        get: operations["getReplayCase"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replay}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a replay
         * @description Server-sent events: `replay-case` when a case has ended, `replay-end` when all have. Closes after 60 idle seconds; reconnect with `Last-Event-ID`.
         *
         *     Scope: `chat`.
         */
        get: operations["followReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replay}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the cases of a replay
         * @description One `ReplayCaseDetail` a line (NDJSON), with both sides: for a judgement elsewhere.
         *
         *     Scope: `chat`.
         */
        get: operations["exportReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests to models and turns, newest first
         * @description One row for each request that was sent to a provider without a turn, and for each turn, also without calls of tools. Rows appear within seconds; a page may have fewer rows than `limit` although more follow. A key with the scope `admin` that is not bound to agents or toolsets sees all keys, others only themselves.
         *
         *     Scope: `chat` or `tools` or `toolsets` or `approve` or `admin`.
         */
        get: operations["listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{request}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a row of the request log
         * @description A key with the scope `admin` that is not bound to agents or toolsets sees all keys, others only themselves.
         *
         *     Scope: `chat` or `tools` or `toolsets` or `approve` or `admin`.
         */
        get: operations["getRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Create responses over a WebSocket (OpenAI)
         * @description The WebSocket mode of the Responses API. Each message of the client is `{"type": "response.create"}` with the fields of `POST /v1/responses`, apart from `stream` and `background`; it is answered like that request, one after another, with each event as a message. `previous_response_id` may name the last response of the connection, also with `store: false`. `generate: false` keeps the input for the next request without a reply. The first event of a reply has `headers`: those of its HTTP response that begin with `x-moniker-`. Failures are `{"type": "error", "status", "error", "headers"}`. Requires a bearer key; cookies are not sufficient.
         *
         *     Scope: `chat`.
         */
        get: operations["connectResponses"];
        put?: never;
        /**
         * Create a response (OpenAI)
         * @description `model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside Moniker, and `output` contains the text and calls of the caller’s own `tools`: send their outputs with `previous_response_id`, with the preceding items, or alone with the session. `previous_response_id` names a response of a session: the newest is continued in the same session, an older one in a new session. If a call requires approval, the response ends with a sentence that names it and an `mcp_approval_request` item, and the next request continues; an `mcp_approval_response` item in it decides, with the scope `approve`, and returns `conflict` if the call was decided otherwise. Otherwise the request is sent to the provider: unchanged if it supports Responses, otherwise translated. Tools that the client runs and that have items of their own (`local_shell`, `shell`, `apply_patch`, `tool_search` with `execution: client`) are functions for other APIs, and their calls come back as those items. `conversation`, `prompt` and tools that only OpenAI runs are rejected unless the request is passed on unchanged; `background` always, since its answer could not be read later. Errors have the OpenAI format.
         *
         *     Scope: `chat`.
         */
        post: operations["createResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a stored response
         * @description For responses of a session. Returns a document when it has ended; with `stream=true`, `starting_after`, `after`, `Last-Event-ID` or `Accept: text/event-stream`, returns its events after the given one, byte for byte as first sent.
         *
         *     Scope: `chat`.
         */
        get: operations["getResponse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a response
         * @description Ends its turn immediately, also while it waits, and returns the response with its output so far. A completed response is returned unchanged.
         *
         *     Scope: `chat`.
         */
        post: operations["cancelResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of a restore
         * @description Only for the root key.
         *
         *     Scope: `admin`.
         */
        get: operations["getRestore"];
        put?: never;
        /**
         * Restore the next lines of an archive
         * @description Send the lines of an archive in their order, in requests of at most 17825792 bytes, each with whole lines. The first line begins the restore, the last one completes it; in between, other requests to the workspace return 503 `unavailable`. Every part is checked before it is stored. A request applies some hundred parts: if `nextPart` is in these lines, send the rest again. After a failure, continue with `nextPart` of the state, begin again with the first line, or give up with DELETE. Repeat a request whose response has the state `clearing`.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        post: operations["restoreWorkspace"];
        /**
         * Give up a restore
         * @description Deletes what the restore has stored; the workspace is then empty. Repeat it while the state is `clearing`. Without a restore in progress it has no effect.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        delete: operations["abandonRestore"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a schedule
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getSchedule"];
        /**
         * Create or replace a schedule
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putSchedule"];
        post?: never;
        /**
         * Delete a schedule
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        /**
         * Change members of a schedule
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchSchedule"];
        trace?: never;
    };
    "/v1/schedules/{schedule}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the next times of a schedule
         * @description In UTC. For a paused schedule, the times as if it were resumed now.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listScheduleTimes"];
        put?: never;
        /**
         * List the next times of a draft
         * @description In UTC, as if it were stored now. The draft is validated as by PUT, and not stored; the schedule need not exist.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["previewScheduleTimes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{schedule}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a schedule now
         * @description Runs once, outside of its times: also while another run is in progress, or the schedule is paused. Returns 403 for a key with `egressHosts`, `ips` or `models`.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["runSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{schedule}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a schedule, newest first
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listScheduleRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{schedule}/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a run
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getScheduleRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List secrets
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/{secret}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a secret
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getSecret"];
        /**
         * Create or replace a secret
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putSecret"];
        post?: never;
        /**
         * Delete a secret
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteSecret"];
        options?: never;
        head?: never;
        /**
         * Change members of a secret
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchSecret"];
        trace?: never;
    };
    "/v1/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List servers
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listServers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a server with its tools
         * @description Each tool as models see it, with its state. Values that may be credentials are hidden. The response can be sent back with PUT: an unchanged tool and a hidden value stay unchanged.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getServer"];
        /**
         * Create or replace a server
         * @description For a new server, all tools are accepted except those that should be reviewed first. Later, changed and new tools are held until they are accepted. An invalid definition is skipped with a warning. An `mcp` or `openapi` server is listed when it is written, and stored even if that fails: `health` shows the result.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putServer"];
        post?: never;
        /**
         * Delete a server
         * @description Toolsets show its tools as missing. If a server with the same name is created later, its tools are compared with the accepted definitions.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteServer"];
        options?: never;
        head?: never;
        /**
         * Change members of a server
         * @description The result is checked and listed as with PUT. A list such as `tools` is replaced as a whole.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchServer"];
        trace?: never;
    };
    "/v1/servers/{server}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept held definitions
         * @description Tools with findings are left: each of them is accepted by itself.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["acceptServerTools"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start signing in to a server
         * @description For a server with `oauth.grant: "authorization_code"`, or without `oauth` if it publishes the metadata of a sign-in. Returns the URL that the user opens; the browser returns to /oauth/callback. An earlier pending sign-in becomes invalid; existing tokens remain until new ones arrive.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["authorizeServer"];
        /**
         * Delete the sign-in to a server
         * @description Its tokens are deleted here, and revoked at their issuer if possible (RFC 7009). Other isolates stop sending them within a minute.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["forgetServerAuthorization"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who has connected to a server
         * @description The users and keys with an account at this server, which has `oauth.per: "user"`. Sorted by key.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listServerConnections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/connections/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a connection of a user to a server
         * @description As the user can with DELETE /v1/me/connections/{server}.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["removeServerConnection"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the prompts and resources of a server
         * @description Those that are `ready` can be offered by toolsets (`resources` and `prompts` of a toolset).
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listServerOffers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/offers/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a held prompt or resource
         * @description One with findings takes two requests, as a tool does.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["acceptServerOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/offers/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a prompt or resource
         * @description It is not offered, also when the server is deleted and added again, until it is listed with another definition.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["rejectServerOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/offers/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a decision about a prompt or resource
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["undoServerOfferDecision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh the tool list of a server
         * @description Changed and new tools are held. If the server cannot be read, its definitions stay unchanged. Returns `rate_limited` with a retry time if a refresh is in progress.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["refreshServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject held definitions
         * @description Calls of the tools are refused until that is undone, tool by tool.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["rejectServerTools"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a server
         * @description Connects, lists and stores nothing. With a body, tests that document as a new server, using the stored server’s tokens if URL and `oauth` are the same; without a body, tests the stored server. The response reports what is wrong.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["testServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tools of a server
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listServerTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/tools/{tool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tool of a server
         * @description Includes the changes of a held tool, and the findings in its definition.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getServerTool"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/tools/{tool}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a held definition, or annotations
         * @description A held definition takes effect in every toolset that has the tool. With `annotations: true` its annotations apply as well: calls of a read-only tool no longer require approval. A definition with findings takes two requests: the first returns `acknowledgement_required` with its `refId`, its `findings`, and the codes to `acknowledge`; the second has to send both.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["acceptServerTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/tools/{tool}/impact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare a held definition with past calls
         * @description Prepares the recorded calls of the tool, in every toolset that had it, with the definition that was accepted and with the listed one: what accepting would refuse, in which sessions, and which aliases of arguments keep the calls. Nothing is stored. Without a definition that was ever accepted, there is nothing to judge.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getServerToolImpact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/tools/{tool}/rebind": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a missing tool
         * @description For a tool that its server now lists under another name (`renamedTo`). The new tool replaces the old one in every toolset, under the same names, and is accepted.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["rebindServerTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/tools/{tool}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject the listed definition
         * @description Calls of the tool are refused, in pinned sessions too. The definition stays rejected when its server is refreshed, or deleted and added again. If the server lists another definition, that one is held, with the rejection among its `decisions`.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["rejectServerTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/servers/{server}/tools/{tool}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a decision about a tool
         * @description Takes the newest of its `decisions` back, or that about the definition `refId`. After an acceptance the tool is held again, and the definition that was accepted before is compared with the listed one. After a rejection it is in the state from before.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["undoServerToolDecision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description The sessions of the key; for an unbound key with scope `admin`, all sessions of the workspace.
         *
         *     Scope: `chat`.
         */
        get: operations["listSessions"];
        put?: never;
        /**
         * Create a session
         * @description Scope: `chat`.
         */
        post: operations["createSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a session
         * @description Scope: `chat`.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        /**
         * Delete a session with all its data
         * @description Scope: `chat`.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pending approvals
         * @description Includes direct calls. Oldest first, on a single page.
         *
         *     Scope: `approve` or `chat`.
         */
        get: operations["listApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/approvals/{callId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an approval
         * @description Scope: `approve` or `chat`.
         */
        get: operations["getApproval"];
        put?: never;
        /**
         * Approve or deny a call
         * @description Applies once, to exactly this tool, these arguments and the listed effects. A call that would have other effects when it runs does nothing and requires approval again, with `round` increased. Repeating a decision has no effect; a different decision returns `conflict`. A waiting turn continues; a direct call has to be sent again.
         *
         *     Scope: `approve`.
         */
        post: operations["decideApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/approvals/{callId}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an approval link
         * @description The link allows one decision on this call, without an API key, until it expires. Send it to one person only. It is returned only once, and starts with MONIKER_PUBLIC_URL.
         *
         *     Scope: `approve`.
         */
        post: operations["mintApprovalLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the running turn
         * @description Scope: `chat`.
         */
        post: operations["cancelTurn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read or follow the event log
         * @description Server-sent events: `id` is the event’s number, `event` its type, `data` the event as JSON. Closes after 60 idle seconds; reconnect with `Last-Event-ID`. With `follow=false` responds with one page as JSON, oldest event first: the newest events, those before `before`, or with `after` alone the first ones after it. A page of long events has fewer than `limit`, at least one.
         *
         *     Scope: `chat`.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the working directory
         * @description Scope: `chat`.
         */
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file or list a directory
         * @description A file is always `application/octet-stream` and offered for download: a model may have chosen its name and content, and browsers must not show it as a page of this origin.
         *
         *     Scope: `chat`.
         */
        get: operations["readFile"];
        /**
         * Write a file
         * @description Missing directories are created. A session may have 10000 files and directories with 67108864 bytes in total; a write above these limits returns 409.
         *
         *     Scope: `chat`.
         */
        put: operations["writeFile"];
        post?: never;
        /**
         * Delete a file or an empty directory
         * @description Scope: `chat`.
         */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the transcript
         * @description All messages, including those that models see only as a summary. Oldest first, or newest first with `order=desc`. Without `limit` a page has at most 4 MB.
         *
         *     Scope: `chat`.
         */
        get: operations["listMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the prompts for a session
         * @description The prompts of MCP servers that the toolset of the session offers, by the names of the toolset. A turn can begin with one (`prompt` of `POST /v1/sessions/{id}/turns`).
         *
         *     Scope: `chat`.
         */
        get: operations["listSessionPrompts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/tool-results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit results of your own tools, or input for a tool
         * @description For a call that waits for `input`, send the user’s `input`; the call is then repeated with it. Declining is also an answer. For calls of your own tools, send one result, or several under `results`. The turn continues when the last one has arrived: follow `…/events`. Repeating a result has no effect.
         *
         *     Scope: `chat`.
         */
        post: operations["sendToolResults"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit a turn
         * @description The turn is stored before it runs. Responds when it has ended, or with status `waiting` if the user or the caller has to act first; with `Accept: text/event-stream` as events while it runs; with `Prefer: respond-async` immediately. A session runs one turn at a time, in order of acceptance. A disconnect does not cancel the turn.
         *
         *     Scope: `chat`.
         */
        post: operations["createTurn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List skills
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["listSkills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skill}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a skill
         * @description The response can be sent back with PUT unchanged.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["getSkill"];
        /**
         * Create or replace a skill
         * @description Unchanged files create no new version, in either format. Hidden files and system files are skipped with a warning.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        put: operations["putSkill"];
        post?: never;
        /**
         * Delete a skill
         * @description Agents that name it continue without it.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        delete: operations["deleteSkill"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skill}/resources/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a resource file of a skill
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["getSkillResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List subscriptions
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscription}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a subscription
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getSubscription"];
        /**
         * Create or replace a subscription
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putSubscription"];
        post?: never;
        /**
         * Delete a subscription
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteSubscription"];
        options?: never;
        head?: never;
        /**
         * Change members of a subscription
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchSubscription"];
        trace?: never;
    };
    "/v1/subscriptions/{subscription}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a signed test message
         * @description Sends one message of type `test` immediately, also if the subscription is paused. It is not stored and not retried. Returns 403 for a key with `egressHosts`, `ips` or `models`.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["testSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List suites
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["listSuites"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suites/{suite}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a suite
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["getSuite"];
        /**
         * Create or replace a suite
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        put: operations["putSuite"];
        post?: never;
        /**
         * Delete a suite
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        delete: operations["deleteSuite"];
        options?: never;
        head?: never;
        /**
         * Change members of a suite
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        patch: operations["patchSuite"];
        trace?: never;
    };
    "/v1/suites/{suite}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a replay of a suite would replay
         * @description Selects as a replay does when it starts, and runs nothing. A page reads a limited part of the request log and a limited number of sessions: it can be short or empty while `nextCursor` is set. A key without the scope `admin` gets only its own work.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["listSuiteCases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suites/{suite}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of the suite, newest first
         * @description As many are kept as `settings.retention.versions` of the workspace says. Deleting the document deletes them.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        get: operations["listSuiteVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all known tools
         * @description Made tools that are private to other keys are not included.
         *
         *     Scope: `tools` or `toolsets`.
         */
        get: operations["listTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{canonical}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tool
         * @description For a made tool: the shared one, otherwise the private one of the key.
         *
         *     Scope: `tools` or `toolsets`.
         */
        get: operations["getTool"];
        /**
         * Create or replace a made tool or a UI tool
         * @description `made.<name>`: JavaScript over other tools, which runs in a sandbox and can call only those that it names or declares. `ui.<name>`: proposed at the end of a turn, and never offered to a model. Toolsets that list it are recompiled. A key bound to toolsets can create tools only from the tools that they have. A made tool that is written here is shared: every key may call it. Private ones are created with `create_tool`.
         *
         *     Scope: `toolsets`.
         */
        put: operations["putTool"];
        post?: never;
        /**
         * Delete a made tool or a UI tool
         * @description Toolsets that list it show it as missing; made tools that use it get an error when they call it. Any key can delete its own private made tools; deleting a shared tool requires the scope `toolsets`.
         *
         *     Scope: `chat` or `tools` or `toolsets`.
         */
        delete: operations["deleteTool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{canonical}/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the default aliases of a tool
         * @description Scope: `tools` or `toolsets`.
         */
        get: operations["getToolAliases"];
        /**
         * Set the default aliases of a tool
         * @description Toolset entries without `aliases` inherit them at once. The wire names of existing toolsets stay until they are next changed.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        put: operations["putToolAliases"];
        post?: never;
        /**
         * Restore the tool’s own aliases
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        delete: operations["deleteToolAliases"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{canonical}/impact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare a draft of a made tool with past calls
         * @description Prepares the recorded calls of the tool, in every toolset that had it, with the stored parameters and with those of the draft. Without a shared tool of the name, the key’s own private one is compared. Nothing is stored, and the code does not run. For a key that sees only its own usage, only its own calls count.
         *
         *     Scope: `toolsets`.
         */
        post: operations["getToolImpact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{canonical}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a shared made tool, newest first
         * @description As many are kept as `settings.retention.versions` of the workspace says. Deleting the document deletes them.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `tools` or `toolsets`.
         */
        get: operations["listToolVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List toolsets
         * @description Scope: `tools` or `toolsets`.
         */
        get: operations["listToolsets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a toolset
         * @description The response can be sent back with PUT unchanged.
         *
         *     Scope: `tools` or `toolsets`.
         */
        get: operations["getToolset"];
        /**
         * Create or replace a toolset
         * @description Checks all names for conflicts and compiles an edition. An unchanged document creates no new version. `from` copies another toolset. A key bound to toolsets can list only tools that they have.  Only unbound keys with scope `admin` can add or change entries with `approval: "never"` or a secret in a preset.
         *
         *     Scope: `toolsets`.
         */
        put: operations["putToolset"];
        post?: never;
        /**
         * Delete a toolset
         * @description Its versions remain, and their numbers are not reused.
         *
         *     Scope: `toolsets`.
         */
        delete: operations["deleteToolset"];
        options?: never;
        head?: never;
        /**
         * Change members of a toolset
         * @description The result is checked and stored as with PUT. A list such as `tools` is replaced as a whole.
         *
         *     Scope: `toolsets`.
         */
        patch: operations["patchToolset"];
        trace?: never;
    };
    "/v1/toolsets/{toolset}/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call a tool
         * @description Errors in the request are problems. Every error of the call, including an unknown name, is 200 with `isError` and a `code`. With `?dryRun=true` nothing runs. A call that requires approval returns `approval_required`; in a session it can be approved under its `callId`, and the same call sent again then runs once. A call that may have an effect is recorded in the audit before it runs: if that fails, it does not run (503 `unavailable`, safe to retry).
         *
         *     Scope: `tools`.
         */
        post: operations["callTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two versions
         * @description Compares the compiled versions, so changes by a server are included. Entries with the same tool and wire name are the same entry; remaining entries of the same tool count as renamed.
         *
         *     Scope: `tools` or `toolsets`.
         */
        get: operations["diffToolset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/impact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare a draft of a toolset with past calls
         * @description Resolves every name that was called in the last days in the stored toolset and in the draft, and returns the names that would lead elsewhere, with who called them, and aliases that keep them. Nothing is stored. For a key that sees only its own usage, only its own calls count.
         *
         *     Scope: `toolsets`.
         */
        post: operations["getToolsetImpact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a draft of a toolset
         * @description Returns all faults of the draft at once, with their paths: `issues`, and the `conflicts` of names. `tools`, tokens and prompt are those of GET …/tools for the entries without faults. Nothing is stored, and the toolset need not exist.
         *
         *     Scope: `toolsets`.
         */
        post: operations["previewToolset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain what a called name means
         * @description Names are matched level by level: wire name, canonical name, alias, own name, and then all of them ignoring spelling differences; the first level with a match decides.  A name that matches no tool, or several, is a problem whose `detail` explains why; `elsewhere` lists similar tools without an entry in the toolset.
         *
         *     Scope: `tools`.
         */
        get: operations["resolveToolName"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll back to a version
         * @description Writes the document of that version as a new version, compiled with the current tools; a removed toolset is restored. An unchanged document creates no new version. Tools that were revoked are left out, with a warning. A retired version is refused (409).
         *
         *     Scope: `toolsets`.
         */
        post: operations["rollBackToolset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/suggestions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Suggest names from past calls
         * @description Looks for calls that were refused for their name or an argument, and for the call that the model made then in the same turn. Suggestions in `dismissed` of the toolset are left out. Nothing is stored, and nothing acts by itself. For a key that sees only its own usage, only its own calls count.
         *
         *     Scope: `toolsets`.
         */
        get: operations["getToolsetSuggestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the tools as a provider receives them
         * @description Exact definitions, each with the changes for this provider and its tokens; then tools that are loaded on demand, and those that are not sent.
         *
         *     Scope: `tools`.
         */
        get: operations["listToolsetTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/uses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what uses a toolset
         * @description Agents that have the toolset, webhooks and schedules that run them, keys that are bound to it or to them, and keys that have equipped it. Also of a deleted toolset that something still names.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listToolsetUses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a toolset, newest first
         * @description Scope: `tools` or `toolsets`.
         */
        get: operations["listToolsetVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset}/versions/{version}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire a version
         * @description The version cannot be used any more: not by name, and not in running turns, pinned sessions and MCP connections, from their next call. It can still be read. The current version cannot be retired.
         *
         *     Scope: `toolsets`.
         */
        post: operations["retireToolsetVersion"];
        /**
         * Undo the retirement of a version
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `toolsets`.
         */
        delete: operations["restoreToolsetVersion"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sum the usage and cost of models and tools
         * @description Counts every call of a model, in turns and without, with the tokens that its provider reported, and every call of a tool. Calls appear within seconds. A key with the scope `admin` that is not bound to agents or toolsets sees all keys, others only themselves.
         *
         *     Scope: `chat` or `tools` or `toolsets` or `approve` or `admin`.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getWebhook"];
        /**
         * Create or replace a webhook
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        put: operations["putWebhook"];
        post?: never;
        /**
         * Delete a webhook
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change members of a webhook
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{webhook}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries, newest first
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook}/deliveries/{delivery}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one delivery
         * @description Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook}/deliveries/{delivery}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a delivery
         * @description Uses the current templates, ignores the filter, and also works for a paused webhook. Returns `conflict` while its turn is in progress, and if its payload is no longer stored; 403 for a key with `egressHosts`, `ips` or `models`.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["replayDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a webhook with an event
         * @description Evaluates the filter and the templates, of a draft if one is given. Nothing is verified, stored or run.
         *
         *     Not for keys that are bound to agents or toolsets.
         *
         *     Scope: `admin`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workspaces
         * @description Only for the root key.
         *
         *     Scope: `admin`.
         */
        get: operations["listWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{workspace}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the settings of a workspace
         * @description Only for the root key.
         *
         *     Scope: `admin`.
         */
        get: operations["getWorkspace"];
        /**
         * Create a workspace, or write its settings
         * @description Creates the workspace if it does not exist. A setting that is left out has its default; a change takes effect within a few seconds. The name of a deleted workspace can be used again.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        put: operations["putWorkspace"];
        post?: never;
        /**
         * Delete a workspace with everything in it
         * @description Its keys are refused within 30 seconds, and running turns end. Documents, sessions, files, deliveries, the audit, usage and logged bodies are erased in the background: read the workspace until its status is `deleted`. Cannot be undone. The workspace `default` cannot be deleted.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        delete: operations["deleteWorkspace"];
        options?: never;
        head?: never;
        /**
         * Change settings of a workspace
         * @description A setting that is removed with `null` has its default again.
         *
         *     Only for the root key.
         *
         *     Scope: `admin`.
         */
        patch: operations["patchWorkspace"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptedDelivery: {
            /** @description The sender’s id. A repeated id starts nothing and returns the same response. */
            delivery: string;
            /** @description Why it was ignored or failed, or how the turn ended; otherwise null. */
            reason: string | null;
            /**
             * @description Present if the delivery was received before.
             * @constant
             */
            repeated?: true;
            /** @description Number of the run: 1 for the first, and one more for each replay. */
            run: number;
            /** @description Session of the turn. null: no turn was started. */
            session: string | null;
            status: components["schemas"]["DeliveryStatus"];
            turn: string | null;
        };
        /**
         * @example {
         *       "kind": "prompt",
         *       "name": "review"
         *     }
         */
        AcceptOffer: {
            /** @description The codes of all findings in the definition, which the problem `acknowledgement_required` lists. Required if there are any. */
            acknowledge?: string[];
            /** @enum {string} */
            kind: "prompt" | "resource" | "template";
            /** @description The name of a prompt, the URI of a resource, or a template. */
            name: string;
            /** @description `refId` of the reviewed definition (`held.refId`). If the server now lists another definition, nothing is accepted (409). Required with `acknowledge`. */
            refId?: string;
        };
        /**
         * @example {
         *       "annotations": true
         *     }
         */
        AcceptRequest: {
            /** @description The codes of all findings in the definition, which the problem `acknowledgement_required` lists. Required if there are any. */
            acknowledge?: string[];
            /** @description `true`: its annotations (`readOnlyHint`, `idempotentHint`) apply until the definition changes, although its server is not `trusted`. `false`: they no longer apply. Default: only a held definition is accepted, without its annotations. */
            annotations?: boolean;
            /** @description `refId` of the reviewed definition (`held.refId`). If the server now lists another definition, nothing is accepted (409). Required with `acknowledge`. */
            refId?: string;
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "instructions": "Answer in one sentence.",
         *       "toolset": "demo"
         *     }
         */
        Agent: {
            /**
             * @description If a tool of the caller has a name of a server tool: `replace` (default) leaves the server tool out of the turn, `strict` rejects the request.
             * @enum {string}
             */
            clientTools?: "replace" | "strict";
            /** @description Replaces the tools that the model sees with a single tool, `run_code`, whose code calls them. Results stay out of the conversation unless the code returns them. */
            codeMode?: boolean;
            description?: string;
            fallbacks?: components["schemas"]["ModelRef"][];
            /** @default  */
            instructions?: string;
            limits?: components["schemas"]["AgentLimits"];
            /** @description Also offers the made tools of the workspace whose inner tools the agent can use. Takes effect on the next turn. */
            made?: boolean;
            model: components["schemas"]["ModelRef"];
            /** @description Patterns of the only models that turns of the agent may use, after aliases. Absent: all. A turn with another one is rejected. */
            models?: components["schemas"]["ModelPatterns"];
            /** @description Must equal the name in the path, if given. */
            name?: string;
            /**
             * @description How tool definitions are sent to the model: in the API’s tool fields, or in the prompt. Absent: the provider’s profile decides.
             * @enum {string}
             */
            protocol?: "native" | "text";
            settings?: components["schemas"]["AgentSettings"];
            /** @description Names of the skills that the agent may load. */
            skills?: string[];
            /** @description Requires approval before data is sent out of a conversation that contains private and untrusted content. Absent: the policy decides. `false` applies to the agent’s own toolset only, and needs an unbound key with scope `admin`; other keys then cannot change what the agent can do. */
            taint?: boolean;
            timeouts?: components["schemas"]["ModelTimeouts"];
            /** @description Allow-list of tool names in any spelling. Absent: all tools of the toolset; empty: none. */
            tools?: string[];
            /** @description The toolset whose tools the agent can use: the newest version, or a fixed version such as `demo@3`. */
            toolset?: components["schemas"]["ToolsetReference"];
        };
        AgentImpact: {
            agent: string;
            /** @description Arguments of the calls of turns, by the logs of their sessions; of other calls only hashes are kept. null: with `cursor`. */
            arguments: {
                /** @description Recorded calls that the stored version accepts. */
                judged: number;
                /** @description By tool and reason, the most frequent first, at most 100. */
                refused: {
                    calls: number;
                    /** @description Why the draft refuses them. */
                    issues: {
                        message: string;
                        path: string;
                    }[];
                    /** @description Aliases of arguments with which the draft accepts the calls. Empty: no alias helps. */
                    mends: {
                        alias: string;
                        argument: string;
                        tool: string;
                    }[];
                    /** @description At most 20. */
                    sessions: string[];
                    tool: string;
                }[];
                /** @description Those that the draft refuses. */
                refusedCalls: number;
                /** @description The turns whose calls were read, the newest first. */
                turns: {
                    /** @description Not read: turns of more than 50 sessions, of a session that was deleted, or of another key. */
                    left: number;
                    /** @description Older turns were not looked for. */
                    more: boolean;
                    read: number;
                };
            } | null;
            /** @description The most called first. */
            changed: {
                /** @description Who called it in turns, at most 20. */
                agents: string[];
                calls: number;
                /**
                 * @description `gone`: no name in the draft. `moved`: the name of another tool there, or of an entry with other arguments. `ambiguous`: the name of several. `unusable`: its tool is held or missing. `found`: a name in the draft, and none in the stored version.
                 * @enum {string}
                 */
                change: "gone" | "moved" | "ambiguous" | "unusable" | "found";
                failures: number;
                /** @description Ids of the keys, at most 20. */
                keys: string[];
                lastDay: string | null;
                /** @description The tools that it leads to in the draft. */
                now: string[];
                /** @description At most so many of `calls` were of other names. */
                overcount?: number;
                /** @description How many such calls were found in the turns that were read (`arguments.turns`), to which `sessions` belong. The others are only in the counts: made outside of turns, in turns that were not read, or, with `cursor`, all. */
                readCalls: number;
                /** @description The name that was called. */
                requested: string;
                /** @description The newest sessions with such calls, at most 20. */
                sessions: string[];
                /** @description The tool that it leads to in the stored version. */
                was: string | null;
                /** @description The name of the earlier tool in the draft; null: it is not there. */
                wireName: string | null;
            }[];
            /** @description Calls of turns that named another toolset than that of the stored agent. They are not compared. */
            elsewhere: number;
            /** Format: date */
            from: string;
            /** @description The draft with these tools. null: no fix is known. */
            mended: components["schemas"]["Agent"] | null;
            /** @description Tools that keep a name working, once they are in `tools` of the draft. Each was tried. */
            mends: {
                requested: string;
                tool: string;
            }[];
            /** @description More names follow; a name may be on two pages. */
            nextCursor: string | null;
            /** @description Names that lead where they led. */
            same: {
                calls: number;
                names: number;
            };
            /** Format: date */
            to: string;
            /** @description Calls whose names were not kept, since a day had too many, or before names were counted. */
            unjudged: number;
        };
        AgentLimits: {
            /** @description Turns that run or are queued at the same time. Turns that wait for a person do not count. */
            concurrentTurns?: number;
            /** @description Cost of models and tools per day (UTC), in the unit of the providers’ `prices`. Models without a price are refused. */
            dailyCost?: number;
            maxCalls?: number;
            /** @description Estimated size of the conversation in tokens above which older turns are summarized and old tool results of the current turn are shortened. Default 120000. */
            maxContextTokens?: number;
            /** @description Maximum cost of a whole turn, of models and tools, in the unit of the providers’ `prices`. */
            maxCost?: number;
            maxSteps?: number;
            /** @description Maximum input and output tokens of a whole turn. */
            maxTokens?: number;
            /** @description The same per calendar month (UTC). */
            monthlyCost?: number;
            /**
             * @description What a turn does that has used `maxCost`: `end` (default), or `ask`: it waits for an approval, and may use the same amount once more with each.
             * @enum {string}
             */
            onLimit?: "end" | "ask";
            /** @description Requests per minute. For an agent: turns per minute. */
            requestsPerMinute?: number;
            /** @description Seconds per minute that code of made tools and of `run_code`, scripts of `bash`, and the work on arguments, results and events compute. */
            sandboxSecondsPerMinute?: number;
            /** @description Bytes of the files of all its sessions. */
            storageBytes?: number;
            /** @description Input and output tokens of models per minute: of the requests that are sent to models in that minute. */
            tokensPerMinute?: number;
            toolTimeoutMs?: number;
            turnTimeoutMs?: number;
        };
        AgentSettings: {
            /** @description Maximum output tokens of one step. */
            maxOutputTokens?: number;
            /** @description `false`: the calls of a step run one after the other, and the model is asked for one call at a time if its API has such a setting. Default: in parallel; with the text protocol, one after the other. */
            parallelToolCalls?: boolean;
            /** @description Maximum reasoning tokens, for providers that support a token budget. */
            reasoningBudget?: number;
            /** @description `none`, `minimal`, `low`, `medium`, `high`, … */
            reasoningEffort?: string;
            temperature?: number;
            topP?: number;
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "instructions": "Answer in one sentence.",
         *       "toolset": "demo"
         *     }
         */
        AgentToWrite: {
            /**
             * @description If a tool of the caller has a name of a server tool: `replace` (default) leaves the server tool out of the turn, `strict` rejects the request.
             * @enum {string}
             */
            clientTools?: "replace" | "strict";
            /** @description Replaces the tools that the model sees with a single tool, `run_code`, whose code calls them. Results stay out of the conversation unless the code returns them. */
            codeMode?: boolean;
            description?: string;
            fallbacks?: components["schemas"]["ModelRef"][];
            /** @default  */
            instructions?: string;
            limits?: components["schemas"]["AgentLimits"];
            /** @description Also offers the made tools of the workspace whose inner tools the agent can use. Takes effect on the next turn. */
            made?: boolean;
            model: components["schemas"]["ModelRef"];
            /** @description Patterns of the only models that turns of the agent may use, after aliases. Absent: all. A turn with another one is rejected. */
            models?: components["schemas"]["ModelPatterns"];
            /** @description Must equal the name in the path, if given. */
            name?: string;
            /**
             * @description How tool definitions are sent to the model: in the API’s tool fields, or in the prompt. Absent: the provider’s profile decides.
             * @enum {string}
             */
            protocol?: "native" | "text";
            settings?: components["schemas"]["AgentSettings"];
            /** @description Names of the skills that the agent may load. */
            skills?: string[];
            /** @description Requires approval before data is sent out of a conversation that contains private and untrusted content. Absent: the policy decides. `false` applies to the agent’s own toolset only, and needs an unbound key with scope `admin`; other keys then cannot change what the agent can do. */
            taint?: boolean;
            timeouts?: components["schemas"]["ModelTimeouts"];
            /** @description Allow-list of tool names in any spelling. Absent: all tools of the toolset; empty: none. */
            tools?: string[];
            /** @description The toolset whose tools the agent can use: the newest version, or a fixed version such as `demo@3`. */
            toolset?: components["schemas"]["ToolsetReference"];
            /** @description As shown by GET; ignored on writes. */
            warnings?: components["schemas"]["Warning"][];
        };
        AgentView: {
            /**
             * @description If a tool of the caller has a name of a server tool: `replace` (default) leaves the server tool out of the turn, `strict` rejects the request.
             * @enum {string}
             */
            clientTools?: "replace" | "strict";
            /** @description Replaces the tools that the model sees with a single tool, `run_code`, whose code calls them. Results stay out of the conversation unless the code returns them. */
            codeMode?: boolean;
            description?: string;
            fallbacks?: components["schemas"]["ModelRef"][];
            /** @default  */
            instructions?: string;
            limits?: components["schemas"]["AgentLimits"];
            /** @description Also offers the made tools of the workspace whose inner tools the agent can use. Takes effect on the next turn. */
            made?: boolean;
            model: components["schemas"]["ModelRef"];
            /** @description Patterns of the only models that turns of the agent may use, after aliases. Absent: all. A turn with another one is rejected. */
            models?: components["schemas"]["ModelPatterns"];
            name: string;
            /**
             * @description How tool definitions are sent to the model: in the API’s tool fields, or in the prompt. Absent: the provider’s profile decides.
             * @enum {string}
             */
            protocol?: "native" | "text";
            settings?: components["schemas"]["AgentSettings"];
            /** @description Names of the skills that the agent may load. */
            skills?: string[];
            /** @description Requires approval before data is sent out of a conversation that contains private and untrusted content. Absent: the policy decides. `false` applies to the agent’s own toolset only, and needs an unbound key with scope `admin`; other keys then cannot change what the agent can do. */
            taint?: boolean;
            timeouts?: components["schemas"]["ModelTimeouts"];
            /** @description Allow-list of tool names in any spelling. Absent: all tools of the toolset; empty: none. */
            tools?: string[];
            /** @description The toolset whose tools the agent can use: the newest version, or a fixed version such as `demo@3`. */
            toolset?: components["schemas"]["ToolsetReference"];
        };
        AgUiEvent: {
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description `announced`: callable and announced to the model. `function`: also sent as a separate definition (“Alias for …”). `hidden`: callable, never shown. `deprecated`: callable, never shown, and the result of a call includes the note.
         * @enum {string}
         */
        AliasMode: "announced" | "function" | "hidden" | "deprecated";
        /**
         * @description How aliases are announced to the model: one block in the system prompt, a line in each description, or not at all.
         * @enum {string}
         */
        Announce: "prompt" | "description" | "none";
        AnsweredDelivery: {
            /** @description The sender’s id. A repeated id starts nothing and returns the same response. */
            delivery: string;
            /** @description Why it was ignored or failed, or how the turn ended; otherwise null. */
            reason: string | null;
            /**
             * @description Present if the delivery was received before.
             * @constant
             */
            repeated?: true;
            /** @description Number of the run: 1 for the first, and one more for each replay. */
            run: number;
            /** @description Session of the turn. null: no turn was started. */
            session: string | null;
            status: components["schemas"]["DeliveryStatus"];
            /** @description Text of the turn’s last step. */
            text: string;
            turn: string | null;
        };
        AnthropicError: {
            error: {
                /** @description `error_code`: the code of a provider’s error, or else the `code` of other paths, or one of Anthropic’s. The stock client shows it as `errorCode`. */
                details: {
                    error_code: string;
                } & {
                    [key: string]: unknown;
                };
                message: string;
                type: string;
            };
            request_id: string | null;
            /** @constant */
            type: "error";
        };
        /**
         * @example {
         *       "callId": "call_1",
         *       "session": "0123…",
         *       "turn": "turn_1",
         *       "canonical": "builtin.delete_file",
         *       "entry": "delete_file",
         *       "arguments": {
         *         "path": "notes.txt"
         *       },
         *       "reason": "It deletes /workspace/notes.txt, which cannot be undone",
         *       "effects": [
         *         {
         *           "action": "delete",
         *           "kind": "delete-file",
         *           "target": "/workspace/notes.txt"
         *         }
         *       ],
         *       "effectCount": 1,
         *       "state": "pending",
         *       "askedAt": "2026-01-01T08:00:00.000Z",
         *       "expiresAt": "2026-01-08T08:00:00.000Z"
         *     }
         */
        Approval: {
            arguments: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            askedAt: string;
            callId: string;
            canonical: string;
            /**
             * @description It can be approved with `remember`. Absent: only this call can be approved.
             * @constant
             */
            canRemember?: true;
            /** @description Why it was decided so. Absent: not decided, or no reason was given. */
            decisionReason?: string;
            /** @description With `effects`: the total number of effects. */
            effectCount?: number;
            /** @description For `approval`: the effects of the call that require approval, at most 100. An approval covers exactly these effects. */
            effects?: components["schemas"]["AskedEffect"][];
            /** @description Wire name of the toolset entry that was called. */
            entry: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description For a nested call (made by code, a script or a made tool): the id of the outer call. */
            parent?: string;
            reason: string;
            /** @description Number of the question, present from the second question of a call on. Send it with the decision to approve the call. */
            round?: number;
            session: string;
            /** @enum {string} */
            state: "pending" | "approved" | "denied" | "expired" | "used";
            /** @description null for a direct call. */
            turn: string | null;
        };
        /**
         * @example {
         *       "url": "https://moniker.example/approve/bXAx…",
         *       "expiresAt": "2026-01-02T08:00:00.000Z"
         *     }
         */
        ApprovalLink: {
            /** Format: date-time */
            expiresAt: string;
            /** Format: uri */
            url: string;
        };
        /**
         * @description When a call requires approval. `policy` (default): as the workspace’s policy decides. `always`: every call. `never`: no approval for calls of this entry; setting it needs an unbound key with scope `admin`.
         * @enum {string}
         */
        ApprovalRule: "never" | "always" | "policy";
        /**
         * @example {
         *       "argument": "path",
         *       "mode": "deprecated",
         *       "note": "use path"
         *     }
         */
        ArgumentAlias: string | {
            argument: string;
            /**
             * @description `announced`: the description of the argument names it. `hidden`: accepted, never shown. `deprecated`: accepted, never shown, and the result includes the note.
             * @default hidden
             * @enum {string}
             */
            mode?: "announced" | "hidden" | "deprecated";
            note?: string;
        };
        /**
         * @example {
         *       "action": "delete",
         *       "kind": "delete-file",
         *       "target": "/workspace/notes.txt"
         *     }
         */
        AskedEffect: {
            /** @enum {string} */
            action: "call" | "delete" | "replace" | "write" | "move" | "read" | "send" | "use-secret" | "change-registry";
            /** @description Why the effect requires approval. */
            kind: components["schemas"]["AskKind"];
            /** @description HTTP method, for `send`. */
            method?: string;
            /** @description The path, host, secret, tool or toolset. null: the call itself. */
            target: string | null;
        };
        /** @enum {string} */
        AskKind: "always" | "delete-file" | "overwrite-file" | "write-outside" | "network" | "destructive" | "untrusted" | "registry" | "rule" | "taint" | "budget";
        AuditCall: {
            /** @description The agent of the turn. */
            agent: string | null;
            /** @description SHA-256 (hex) of the canonical JSON of the arguments. */
            argumentsHash: string;
            /** Format: date-time */
            at: string;
            callId: string;
            canonical: string | null;
            code: components["schemas"]["ToolResultCode"] | null;
            /** @description USD; with `outcome_unknown` what the call may have cost, which no usage has. Absent: the tool has no price, or was not called. */
            cost?: number;
            durationMs: number;
            /** @description `name@version.revision`. */
            edition: string | null;
            /** @description How the guard of the workspace decided, before the call or after it, whichever is stricter. Absent: it was not asked. */
            guard?: components["schemas"]["GuardVerdict"];
            /**
             * @description Id of the entry: the log that stores it and its number there, `<log>.<number>`. Stable.
             * @example 3.1042
             */
            id: string;
            /** @description Id of the key. For an approval decision also `link`, or `clock` if the approval expired. */
            keyId: string;
            /**
             * @description A tool call, or a decision on its approval.
             * @constant
             */
            kind: "call";
            /** @description For a nested call (made by code, a script or a made tool): the id of the outer call. */
            parent: string | null;
            /** @description Of an approval decision: why, in the words of the person who decided. Absent: no reason was given. */
            reason?: string;
            /** @description The name that was called. For an approval decision: the wire name of the toolset entry. */
            requested: string;
            sequence: number | null;
            session: string | null;
            toolset: string | null;
            turn: string | null;
            /**
             * @description For a call: `ran`, `refused`, `waiting` (it needs an approval or an answer before it can continue) or `outcome_unknown` (it started, and no outcome is recorded: it is still running, or its outcome could not be written). For an approval decision: `approved`, `denied` or `expired`; the call has its own row.
             * @enum {string}
             */
            verdict: "ran" | "refused" | "outcome_unknown" | "waiting" | "approved" | "denied" | "expired";
            via: components["schemas"]["Via"] | null;
        };
        AuditChange: {
            /** @enum {string} */
            action: "create" | "update" | "delete" | "revoke" | "rotate" | "accept" | "reject" | "undo" | "retire" | "refresh" | "sign-in" | "sign-out" | "backup" | "restore" | "erase";
            /** Format: date-time */
            at: string;
            /**
             * @description Id of the entry: the log that stores it and its number there, `<log>.<number>`. Stable.
             * @example 3.1042
             */
            id: string;
            /** @description Id of the key; `link` for a rule that was remembered by an approval link; `system` for a change made by the service itself. */
            keyId: string;
            /** @constant */
            kind: "change";
            /** @description Name of the resource; for a key or session its id, for the master key its fingerprint, for a server tool its canonical name. */
            name: string;
            /** @description Type of the resource: `toolset`, `agent`, `provider`, `secret`, `tool-aliases`, `policy`, `known-host`, `server`, `server-tool`, `server-prompt`, `server-resource`, `server-template`, `skill`, `ui-tool`, `made-tool`, `webhook`, `schedule`, `subscription`, `model-alias`, `suite`, `member`, `workspace`, `session` and `replay` (only `delete`), `key`, `grant` or `master-key`. */
            resource: string;
            /** @description The version that the change created, or that was retired or is no longer retired (`undo`). null if the resource has no versions. */
            version: number | null;
        };
        AuditFault: {
            /**
             * @description Id of the entry: the log that stores it and its number there, `<log>.<number>`. Stable.
             * @example 3.1042
             */
            id: string;
            log: string;
            /** @description Number of the first broken row. */
            number: number;
            /**
             * @description `altered`: the row does not match its hash. `missing`: the row was removed. `rewritten`: the rows match their hashes, but not the signed head of the log. `signature`: the signature of a head is invalid.
             * @enum {string}
             */
            reason: "altered" | "missing" | "rewritten" | "signature";
            /** @description The fault is in the rows `number` to `through`. Greater than `number` if only a signed head shows it. */
            through: number;
        };
        AuditVerification: {
            /** @description The first broken row; null if `ok`. */
            broken: components["schemas"]["AuditFault"] | null;
            /** @description The number of rows that this request checked. */
            checked: number;
            logs: {
                /** @description Number of the first row checked. Earlier ones were deleted by retention or checked before. */
                from: number;
                /** @description `changes`, or the number of a shard. */
                log: string;
                /** @description Why the retention is not followed: old rows that are broken or cannot be exported are kept, and a log that is full loses its oldest rows early. null: it is followed. */
                retentionFault: string | null;
                /** @description The newest row that a signed head covers; 0 if none. Later rows are signed within a minute. */
                signed: number;
                /** @description Number of the last row checked; less than `from` if the log has none. */
                through: number;
            }[];
            /** @description Continue with this cursor; null when everything was checked or a row is broken. */
            nextCursor: string | null;
            /** @description Whether all rows that this request checked are as they were written. */
            ok: boolean;
        };
        AuthorizationStatus: {
            /**
             * Format: date-time
             * @description When the current token expires; it is refreshed automatically.
             */
            expiresAt?: string;
            scopes?: string[];
            /**
             * @description `expired`: the tokens have expired and cannot be refreshed. With `authorization_code` a user has to sign in (again).
             * @enum {string}
             */
            status: "signed-in" | "signed-out" | "expired";
        };
        /**
         * @example {
         *       "header": "x-gitlab-token",
         *       "idHeader": "x-gitlab-event-uuid"
         *     }
         */
        BearerSettings: {
            /** @description In `authorization` the secret follows `Bearer `; any other header contains the secret only. */
            header?: string;
            /** @description The header that contains the id of the delivery. Absent: an identical request counts as a repeat. */
            idHeader?: string;
        };
        /**
         * @example {
         *       "tools": "*"
         *     }
         */
        BulkDecision: {
            /** @description `*`: all tools that are held. Otherwise their own names, without the server’s. */
            tools: "*" | string[];
        };
        CallAnswer: {
            /** @description With `approval_required` in a session: the id of the approval. */
            callId?: string;
            canonical: string | null;
            code?: components["schemas"]["ToolResultCode"];
            content: components["schemas"]["ContentBlock"][];
            durationMs: number;
            isError: boolean;
            /** @description With `invalid_arguments`. */
            issues?: {
                message: string;
                path: string;
            }[];
            /** @description With `callId`: after approval, the same call sent again runs once. */
            pending?: components["schemas"]["Pending"][];
            /** @description Arguments that did not fit the tool and were converted. */
            repaired?: components["schemas"]["Repair"][];
            requested: string;
            structuredContent?: unknown;
            via: components["schemas"]["Via"] | null;
        };
        Callback: {
            attempts: components["schemas"]["CallbackAttempt"][];
            /** Format: date-time */
            createdAt: string;
            delivery: string | null;
            /** @description The `webhook-id`, equal in all attempts. */
            id: string;
            nextAttemptAt: string | null;
            /** @description null: the message is about no turn. */
            session: string | null;
            status: components["schemas"]["CallbackStatus"];
            target: components["schemas"]["CallbackTarget"];
            turn: string | null;
            type: components["schemas"]["TriggerEvent"];
        };
        CallbackAttempt: {
            /** Format: date-time */
            at: string;
            durationMs: number;
            /** @description Why the attempt failed; null: delivered. */
            error: string | null;
            /** @description The status of the response; null: no response. */
            status: number | null;
        };
        /** @enum {string} */
        CallbackStatus: "pending" | "delivered" | "dead";
        CallbackTarget: {
            /** @enum {string} */
            kind: "webhook" | "schedule" | "subscription";
            name: string;
        };
        CallbackTest: {
            /** Format: date-time */
            at: string;
            delivered: boolean;
            durationMs: number;
            /** @description Why the attempt failed; null: delivered. */
            error: string | null;
            /** @description The `webhook-id` of the message. */
            id: string;
            /** @description The status of the response; null: no response. */
            status: number | null;
        };
        CallbackWithBody: {
            attempts: components["schemas"]["CallbackAttempt"][];
            /** @description The message. null: it was dropped, because too many messages were waiting. */
            body: unknown;
            /** Format: date-time */
            createdAt: string;
            delivery: string | null;
            /** @description The `webhook-id`, equal in all attempts. */
            id: string;
            nextAttemptAt: string | null;
            /** @description null: the message is about no turn. */
            session: string | null;
            status: components["schemas"]["CallbackStatus"];
            target: components["schemas"]["CallbackTarget"];
            turn: string | null;
            type: components["schemas"]["TriggerEvent"];
        };
        CallDifference: {
            /**
             * @description `changed`: the same tool with other arguments. `added`: only in the replay. `missing`: only in the recording.
             * @enum {string}
             */
            kind: "same" | "changed" | "added" | "missing";
            /**
             * @description JSON Pointers to arguments that differ, the first ones.
             * @example [
             *       "/query"
             *     ]
             */
            paths: string[];
            /** @description Index in the calls of the recording. */
            recorded: number | null;
            /** @description Index in the calls of the replay. */
            replayed: number | null;
        };
        /**
         * @example {
         *       "name": "shell",
         *       "arguments": {
         *         "command": "echo hello"
         *       }
         *     }
         */
        CallRequest: {
            /** @default {} */
            arguments?: {
                [key: string]: unknown;
            };
            /** @description Any name that the toolset resolves. */
            name: string;
            /** @description Run with the files of this session. Default: temporary files. */
            session?: string;
        };
        CancelAnswer: {
            cancelled: boolean;
            turn: string | null;
        };
        ChatCompletion: {
            choices: ({
                finish_reason?: string | null;
                index: number;
                message: {
                    /** @description Text; null beside tool calls. */
                    content?: unknown;
                    role?: string;
                    /** @description Calls of the caller’s own tools. */
                    tool_calls?: ({
                        function?: {
                            arguments?: string;
                            name?: string;
                        } & {
                            [key: string]: unknown;
                        };
                        id?: string;
                        type?: string;
                    } & {
                        [key: string]: unknown;
                    })[] | null;
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            })[];
            created?: number;
            id: string;
            model: string;
            object: string;
            /** @description Of all steps. */
            usage?: ({
                completion_tokens?: number;
                prompt_tokens?: number;
                total_tokens?: number;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        ChatCompletionChunk: {
            choices: ({
                delta: {
                    /** @description Text; null beside tool calls. */
                    content?: unknown;
                    role?: string;
                    /** @description Calls of the caller’s own tools. */
                    tool_calls?: ({
                        function?: {
                            arguments?: string;
                            name?: string;
                        } & {
                            [key: string]: unknown;
                        };
                        id?: string;
                        type?: string;
                    } & {
                        [key: string]: unknown;
                    })[] | null;
                } & {
                    [key: string]: unknown;
                };
                finish_reason?: string | null;
                index: number;
            } & {
                [key: string]: unknown;
            })[];
            created?: number;
            id: string;
            model: string;
            object: string;
            /** @description Of all steps. */
            usage?: ({
                completion_tokens?: number;
                prompt_tokens?: number;
                total_tokens?: number;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "Hello"
         *         }
         *       ]
         *     }
         */
        ChatCompletionRequest: {
            frequency_penalty?: number | null;
            max_completion_tokens?: number | null;
            max_tokens?: number | null;
            messages: (({
                content?: (string | ({
                    audio_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    file?: ({
                        file_data?: string | null;
                        file_id?: string | null;
                        filename?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    image_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    input_audio?: ({
                        data: string;
                        format?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    refusal?: string | null;
                    text?: string | null;
                    type: string;
                    video_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                } & {
                    [key: string]: unknown;
                })[]) | null;
                /** @constant */
                role: "system";
            } & {
                [key: string]: unknown;
            }) | ({
                content?: (string | ({
                    audio_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    file?: ({
                        file_data?: string | null;
                        file_id?: string | null;
                        filename?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    image_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    input_audio?: ({
                        data: string;
                        format?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    refusal?: string | null;
                    text?: string | null;
                    type: string;
                    video_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                } & {
                    [key: string]: unknown;
                })[]) | null;
                /** @constant */
                role: "developer";
            } & {
                [key: string]: unknown;
            }) | ({
                content?: (string | ({
                    audio_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    file?: ({
                        file_data?: string | null;
                        file_id?: string | null;
                        filename?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    image_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    input_audio?: ({
                        data: string;
                        format?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    refusal?: string | null;
                    text?: string | null;
                    type: string;
                    video_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                } & {
                    [key: string]: unknown;
                })[]) | null;
                /** @constant */
                role: "user";
            } & {
                [key: string]: unknown;
            }) | ({
                content?: (string | ({
                    audio_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    file?: ({
                        file_data?: string | null;
                        file_id?: string | null;
                        filename?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    image_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    input_audio?: ({
                        data: string;
                        format?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    refusal?: string | null;
                    text?: string | null;
                    type: string;
                    video_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                } & {
                    [key: string]: unknown;
                })[]) | null;
                function_call?: ({
                    arguments?: (string | {
                        [key: string]: unknown;
                    }) | null;
                    name: string;
                } & {
                    [key: string]: unknown;
                }) | null;
                refusal?: string | null;
                /** @constant */
                role: "assistant";
                tool_calls?: ({
                    function?: {
                        arguments?: (string | {
                            [key: string]: unknown;
                        }) | null;
                        name: string;
                    } & {
                        [key: string]: unknown;
                    };
                    id: string;
                    type?: string;
                } & {
                    [key: string]: unknown;
                })[] | null;
            } & {
                [key: string]: unknown;
            }) | ({
                content?: (string | ({
                    audio_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    file?: ({
                        file_data?: string | null;
                        file_id?: string | null;
                        filename?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    image_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                    input_audio?: ({
                        data: string;
                        format?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    refusal?: string | null;
                    text?: string | null;
                    type: string;
                    video_url?: (string | ({
                        url: string;
                    } & {
                        [key: string]: unknown;
                    })) | null;
                } & {
                    [key: string]: unknown;
                })[]) | null;
                /** @constant */
                role: "tool";
                tool_call_id: string;
            } & {
                [key: string]: unknown;
            }) | ({
                content?: string | null;
                name: string;
                /** @constant */
                role: "function";
            } & {
                [key: string]: unknown;
            }))[];
            metadata?: {
                [key: string]: unknown;
            } | null;
            model: string;
            n?: number | null;
            parallel_tool_calls?: boolean | null;
            presence_penalty?: number | null;
            prompt_cache_key?: string | null;
            prompt_cache_options?: {
                [key: string]: unknown;
            } | null;
            prompt_cache_retention?: string | null;
            reasoning_effort?: string | null;
            response_format?: ({
                type: string;
            } & {
                [key: string]: unknown;
            }) | null;
            safety_identifier?: string | null;
            seed?: number | null;
            service_tier?: string | null;
            stop?: (string | string[]) | null;
            stream?: boolean | null;
            stream_options?: ({
                include_usage?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | null;
            temperature?: number | null;
            tool_choice?: (("auto" | "none" | "required") | ({
                allowed_tools?: {
                    mode?: ("auto" | "required") | null;
                    tools: ({
                        function?: {
                            name: string;
                        } & {
                            [key: string]: unknown;
                        };
                    } & {
                        [key: string]: unknown;
                    })[];
                } & {
                    [key: string]: unknown;
                };
                function?: {
                    name: string;
                } & {
                    [key: string]: unknown;
                };
                type: string;
            } & {
                [key: string]: unknown;
            })) | null;
            tools?: ({
                function?: {
                    description?: string | null;
                    name: string;
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                    strict?: boolean | null;
                } & {
                    [key: string]: unknown;
                };
                type: string;
            } & {
                [key: string]: unknown;
            })[] | null;
            /** @description Extension: the toolset whose tools the service runs. */
            toolset?: string | null;
            top_k?: number | null;
            top_p?: number | null;
            user?: string | null;
            verbosity?: string | null;
            web_search_options?: {
                [key: string]: unknown;
            } | null;
        } & {
            [key: string]: unknown;
        };
        Citation: {
            end?: number;
            /** @description The cited text of the source. */
            quote?: string;
            /** @description The cited text of the answer, in UTF-16 units from the begin of the text of its step. */
            start?: number;
            title?: string;
            url: string;
        };
        ClientMetadata: {
            [key: string]: unknown;
        };
        ClientTool: {
            /** @default  */
            description?: string;
            /**
             * @default {
             *       "type": "object"
             *     }
             */
            inputSchema?: {
                [key: string]: unknown;
            };
            name: string;
            /** @description The provider enforces the schema, if it can. */
            strict?: boolean;
        };
        /**
         * @example {
         *       "authorizationUrl": "https://moniker.example.com/connect/github",
         *       "expiresAt": null
         *     }
         */
        ConnectionStart: {
            /**
             * Format: uri
             * @description For the browser of the user. A page of this service gets the URL of the authorization server, and a cookie without which the sign-in cannot be finished; every other caller gets the page /connect/{server}, where the user starts.
             */
            authorizationUrl: string;
            /** @description The user must complete the sign-in by then; null: not started yet. */
            expiresAt: string | null;
        };
        ConsentDecision: {
            consent: string;
            /** @enum {string} */
            decision: "allow" | "deny";
        };
        ContentBlock: ({
            _meta?: {
                [key: string]: unknown;
            };
            annotations?: {
                [key: string]: unknown;
            };
            text: string;
            /** @constant */
            type: "text";
        } & {
            [key: string]: unknown;
        }) | ({
            _meta?: {
                [key: string]: unknown;
            };
            annotations?: {
                [key: string]: unknown;
            };
            data: string;
            mimeType: string;
            /** @constant */
            type: "image";
        } & {
            [key: string]: unknown;
        }) | ({
            _meta?: {
                [key: string]: unknown;
            };
            annotations?: {
                [key: string]: unknown;
            };
            data: string;
            mimeType: string;
            /** @constant */
            type: "audio";
        } & {
            [key: string]: unknown;
        }) | ({
            _meta?: {
                [key: string]: unknown;
            };
            annotations?: {
                [key: string]: unknown;
            };
            description?: string;
            icons?: {
                mimeType?: string;
                sizes?: string[];
                src: string;
                /** @enum {string} */
                theme?: "light" | "dark";
            }[];
            mimeType?: string;
            name: string;
            size?: number;
            title?: string;
            /** @constant */
            type: "resource_link";
            uri: string;
        } & {
            [key: string]: unknown;
        }) | ({
            _meta?: {
                [key: string]: unknown;
            };
            annotations?: {
                [key: string]: unknown;
            };
            resource: {
                _meta?: {
                    [key: string]: unknown;
                };
                blob?: string;
                mimeType?: string;
                text?: string;
                uri: string;
            } & {
                [key: string]: unknown;
            };
            /** @constant */
            type: "resource";
        } & {
            [key: string]: unknown;
        }) | {
            _meta?: {
                [key: string]: unknown;
            };
            annotations?: {
                [key: string]: unknown;
            };
            block: {
                [key: string]: unknown;
            };
            /** @constant */
            type: "other";
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "Hello"
         *         }
         *       ]
         *     }
         */
        CountTokensRequest: {
            messages: ({
                content: string | ({
                    type: string;
                } & {
                    [key: string]: unknown;
                })[];
                /** @enum {string} */
                role: "user" | "assistant" | "system";
            } & {
                [key: string]: unknown;
            })[];
            model: string;
            system?: (string | ({
                text: string;
                /** @constant */
                type: "text";
            } & {
                [key: string]: unknown;
            })[]) | null;
            thinking?: ({
                budget_tokens?: number | null;
                type: string;
            } & {
                [key: string]: unknown;
            }) | null;
            tool_choice?: (({
                disable_parallel_tool_use?: boolean | null;
                /** @constant */
                type: "auto";
            } & {
                [key: string]: unknown;
            }) | ({
                disable_parallel_tool_use?: boolean | null;
                /** @constant */
                type: "any";
            } & {
                [key: string]: unknown;
            }) | ({
                disable_parallel_tool_use?: boolean | null;
                name: string;
                /** @constant */
                type: "tool";
            } & {
                [key: string]: unknown;
            }) | ({
                /** @constant */
                type: "none";
            } & {
                [key: string]: unknown;
            })) | null;
            tools?: ({
                description?: string | null;
                input_schema?: {
                    [key: string]: unknown;
                } | null;
                name?: string;
                strict?: boolean | null;
                type?: string | null;
            } & {
                [key: string]: unknown;
            })[] | null;
        } & {
            [key: string]: unknown;
        };
        CreatedKey: {
            agents?: string[];
            caller?: {
                [key: string]: string;
            };
            /** Format: date-time */
            createdAt: string;
            egressHosts?: components["schemas"]["SecretHost"][];
            expiresAt: string | null;
            id: string;
            ips?: components["schemas"]["IpRange"][];
            /** @description The complete key. It is shown only once. */
            key: string;
            lastUsedAt: string | null;
            limits?: components["schemas"]["UsageLimits"];
            models?: components["schemas"]["ModelPatterns"];
            name: string;
            /** @description Until when an earlier secret works. null: none does. */
            previousExpiresAt: string | null;
            /** @description When an earlier secret that still works was last used after the rotation, to the minute. null: not. */
            previousUsedAt: string | null;
            revokedAt: string | null;
            rotatedAt: string | null;
            scopes: components["schemas"]["Scope"][];
            toolsets?: string[];
            /** @description The key expires within a week, or a client still sends an earlier secret. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        DecidedTool: {
            /** @description Default aliases from the listing: `aliases` of a static tool, `_meta.aliases` of an MCP tool. */
            aliases?: components["schemas"]["ToolsetAlias"][];
            annotations?: components["schemas"]["ToolAnnotations"];
            /** @description An administrator accepted the annotations of this definition. They also count if the server is not `trusted`. */
            annotationsAccepted: boolean;
            canonical: string;
            /** @description Decisions of administrators about definitions of this tool that can be undone, newest first. A rejection of another definition than the listed one is an earlier one. */
            decisions?: components["schemas"]["DefinitionDecision"][];
            description: string;
            findings?: components["schemas"]["Finding"][];
            held?: components["schemas"]["Hold"];
            inputSchema: {
                [key: string]: unknown;
            };
            name: string;
            outputSchema?: {
                [key: string]: unknown;
            };
            /** @description SHA-256 of the definition in force. A toolset entry can refer to the tool by it. */
            refId: string;
            /** @description For a missing tool: the canonical name of a new tool with the same definition. */
            renamedTo?: string;
            /** @enum {string} */
            state: "ready" | "held" | "rejected" | "missing" | "refused";
            /** @description Toolsets that conflict with the definition: the tool stays held in them until they are saved again. */
            warnings: components["schemas"]["Warning"][];
        };
        DecidedTools: {
            decided: string[];
            /** @description Tools that stay as they are, for example those with findings, each of which is accepted by itself. */
            left: {
                name: string;
                reason: string;
            }[];
            warnings: components["schemas"]["Warning"][];
        };
        /** @enum {string} */
        Decision: "approve" | "deny";
        /**
         * @example {
         *       "callId": "call_1",
         *       "decision": "approve",
         *       "turn": "turn_1",
         *       "status": "running"
         *     }
         */
        DecisionAnswer: {
            callId: string;
            decision: components["schemas"]["Decision"];
            /** @description Hosts that are known to the workspace from now on. Absent: none. */
            knownHosts?: string[];
            /** @description Current status of the turn. */
            status: string | null;
            /** @description null for a direct call, which must be sent again. */
            turn: string | null;
            /** @description Why the hosts could not be made known. The decision stands. */
            warning?: string;
        };
        /**
         * @example {
         *       "decision": "approve"
         *     }
         */
        DecisionRequest: {
            decision: components["schemas"]["Decision"];
            /** @description Why, in your words. The event and the audit row of the decision have it, and after a denial the model reads it. The redaction rules of the workspace apply. */
            reason?: string;
            /** @description With `approve`. `session`: the same effect needs no approval in this session from then on. `true`: nor anywhere, by a rule of the policy; only for unbound keys with scope `admin`. Both are for an approval of one effect or folder, or of requests to new hosts. Default: hosts that such an `admin` key approves are known to the workspace from then on (`/v1/policy/hosts`); `false`: only this call is approved. */
            remember?: boolean | "session";
            /** @description The `round` of the approval that is decided. Default: the first. Required to approve a later round, so that a repeated request never approves something else. */
            round?: number;
        };
        DefinitionChange: {
            from?: unknown;
            path: string;
            to?: unknown;
        };
        DefinitionDecision: {
            /** @description The codes of the findings that were acknowledged. */
            acknowledged?: string[];
            /** Format: date-time */
            at: string;
            /** @description Id of the key; `updates` if the setting `updates` of the server decided. */
            by: string;
            /** @enum {string} */
            decision: "accepted" | "rejected";
            note?: string;
            /** @description The definition that was decided about. */
            refId: string;
        };
        DefinitionImpact: {
            /** Format: date */
            from: string;
            /** @description Calls that were not judged since only hashes of their arguments are kept: outside of turns, or by code and made tools. */
            hashed: number;
            /** @description Recorded calls that the stored version accepts. */
            judged: number;
            /** @description Recorded calls that were not judged since they are of more than ten toolsets. */
            left: number;
            /** @description By tool and reason, the most frequent first, at most 100. */
            refused: {
                calls: number;
                /** @description Why the draft refuses them. */
                issues: {
                    message: string;
                    path: string;
                }[];
                /** @description Aliases of arguments with which the draft accepts the calls. Empty: no alias helps. */
                mends: {
                    alias: string;
                    argument: string;
                    tool: string;
                }[];
                /** @description At most 20. */
                sessions: string[];
                tool: string;
                /** @description The toolset of the calls, in whose entry the aliases belong. null: they were made without one. */
                toolset: string | null;
            }[];
            /** @description Those that the draft refuses. */
            refusedCalls: number;
            /** Format: date */
            to: string;
            /** @description Canonical name. */
            tool: string;
            /** @description The turns whose calls were read, the newest first. */
            turns: {
                /** @description Not read: turns of more than 50 sessions, of a session that was deleted, or of another key. */
                left: number;
                /** @description Older turns were not looked for. */
                more: boolean;
                read: number;
            };
        };
        Delivery: {
            endedAt: string | null;
            /** @description The type of the event, if the payload or a header contains it. */
            event: string | null;
            /** @description The sender’s id; for a schedule the time when the run was due. */
            id: string;
            /** @description Why it was ignored, skipped or failed, or which limit ended its turn; otherwise null. */
            reason: string | null;
            /** Format: date-time */
            receivedAt: string;
            /** @description The number of redeliveries. */
            repeats: number;
            /** @description Starts at 1; each replay adds 1. */
            run: number;
            /** @description The id of its session; null: no session. */
            session: string | null;
            /** @description The rendered session key. */
            sessionKey: string | null;
            status: components["schemas"]["DeliveryStatus"];
            turn: string | null;
            /** @description Paths in the templates that the payload does not have. */
            warnings: string[];
        };
        /**
         * @description `ignored`: the filter did not match, or the webhook is paused. `skipped`: the previous run had not ended. `pending`: not in its session yet. `running`: in its session, possibly queued behind another turn. `waiting`: waiting for an approval or for input.
         * @enum {string}
         */
        DeliveryStatus: "ignored" | "skipped" | "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
        DeliveryWithPayload: {
            endedAt: string | null;
            /** @description The type of the event, if the payload or a header contains it. */
            event: string | null;
            /** @description The sender’s id; for a schedule the time when the run was due. */
            id: string;
            /** @description The payload as received: JSON as its value, otherwise text. null once it is older than 7 days. */
            payload: unknown;
            /** @description Why it was ignored, skipped or failed, or which limit ended its turn; otherwise null. */
            reason: string | null;
            /** Format: date-time */
            receivedAt: string;
            /** @description The number of redeliveries. */
            repeats: number;
            /** @description Starts at 1; each replay adds 1. */
            run: number;
            /** @description The id of its session; null: no session. */
            session: string | null;
            /** @description The rendered session key. */
            sessionKey: string | null;
            status: components["schemas"]["DeliveryStatus"];
            turn: string | null;
            /** @description Paths in the templates that the payload does not have. */
            warnings: string[];
        };
        DirectoryListing: {
            /** @description At most 5000. With `recursive`, names are relative paths. */
            entries: {
                /** @enum {string} */
                kind: "file" | "directory";
                /** Format: date-time */
                modifiedAt: string;
                name: string;
                size: number;
            }[];
            path: string;
            /** @description true: more entries exist. List a subdirectory. */
            truncated: boolean;
            /** @description Number and size of all files and directories of the session, with their limits. */
            usage: {
                bytes: number;
                files: number;
                maxBytes: number;
                maxFiles: number;
            };
        };
        DocumentVersion: {
            /** Format: date-time */
            createdAt: string;
            /** @description true: this version is a DELETE of a toolset; its number is never reused. Other documents are deleted with their versions. */
            removed: boolean;
            /** @description Of a version of a toolset that cannot be used any more. */
            retired?: {
                /** Format: date-time */
                at: string;
                /** @description Id of the key. */
                by: string;
            };
            version: number;
        };
        DryRunAnswer: {
            canonical: string | null;
            issues: {
                message: string;
                path: string;
            }[];
            /** @description Arguments that did not fit the tool and were converted. */
            repaired?: components["schemas"]["Repair"][];
            requested: string;
            valid: boolean;
            /** @enum {string} */
            verdict: "allow" | "ask" | "deny" | "unknown_tool" | "ambiguous_tool" | "not_allowed" | "tool_held";
            via: components["schemas"]["Via"] | null;
        };
        /** @enum {string} */
        ElicitationAction: "accept" | "decline" | "cancel";
        /**
         * @example {
         *       "action": "accept",
         *       "content": {
         *         "name": "Ada"
         *       }
         *     }
         */
        ElicitationAnswer: {
            action: components["schemas"]["ElicitationAction"];
            /** @description For an accepted form: the fields that `requestedSchema` describes. */
            content?: {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "preset": {
         *         "method": "get_workflow",
         *         "token": {
         *           "secret": "GH"
         *         }
         *       },
         *       "rename": {
         *         "id": "resource_id"
         *       },
         *       "default": {
         *         "per_page": 20
         *       }
         *     }
         */
        EntryArguments: {
            /** @description Other names that calls may use → the tool’s own argument name, in any spelling. Never instead of a parameter that the tool has. */
            alias?: {
                [key: string]: components["schemas"]["ArgumentAlias"];
            };
            /** @description Default values by the tool’s own argument name, used if a call leaves the argument out. Such arguments become optional. */
            default?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description Fixed values by the tool’s own argument name. Preset arguments are removed from the schema, and calls cannot override them. */
            preset?: {
                [key: string]: components["schemas"]["PresetValue"];
            };
            /** @description Shown name → the tool’s own argument name. */
            rename?: {
                [key: string]: string;
            };
        };
        EntryResult: {
            /** @description Maximum size of the shown text in bytes. Default: 65536 for models; REST and MCP clients get the whole result. `fetch_result` returns the rest. */
            maxBytes?: number;
            /** @description JSON Pointers into the structured result, or into its text if that is JSON. Only these parts are shown. */
            pick?: string[];
        };
        EventPage: {
            items: components["schemas"]["SessionEvent"][];
            /** @description Number of the newest event of the session. */
            lastEvent: number;
        };
        FilePart: {
            /** @description The answer cites the file, if the model can. */
            citations?: boolean;
            /** @description What the model is told about the file. */
            context?: string;
            data?: string;
            mediaType: string;
            /** @description Name or title of the file. */
            name?: string;
            /** @constant */
            type: "file";
            url?: string;
        };
        Finding: {
            finding: string;
            message: string;
            path: string;
        };
        /**
         * @example {
         *       "session": "0123…",
         *       "turn": "turn_1"
         *     }
         */
        ForkPoint: {
            session: string;
            /** @description The last turn that is copied. */
            turn: string;
        };
        Grant: {
            client: {
                id: string;
                /** @description As the client gave it. Not verified. */
                name: string;
                /** @description Where the browser returned to. May be empty for a private-use scheme. */
                redirectHost: string;
                /** @description How the browser returned to the client: `https`, `http` (to a program on the user’s device), or the private-use scheme of a program, such as `cursor`. */
                redirectScheme: string;
            };
            /** Format: date-time */
            createdAt: string;
            /** @description Each refresh postpones it. */
            expiresAt: string | null;
            id: string;
            /** @description URL of the MCP endpoint. The tokens of the grant are accepted only there. */
            resource: string;
            scopes: ("tools" | "toolsets")[];
            user: {
                email?: string;
                id: string;
                name: string;
            };
        };
        /**
         * @example {
         *       "url": "https://guard.example.com/moniker",
         *       "secret": "GUARD_SECRET",
         *       "timeoutMs": 3000,
         *       "onFailure": "deny",
         *       "before": true,
         *       "after": true
         *     }
         */
        Guard: {
            /**
             * @description Whether the guard checks each result.
             * @default false
             */
            after?: boolean;
            /**
             * @description Whether the guard checks each call before it runs.
             * @default true
             */
            before?: boolean;
            /**
             * @description What happens when the guard does not respond in time, or with something other than an answer.
             * @default deny
             * @enum {string}
             */
            onFailure?: "allow" | "deny";
            /** @description Name of a secret of the workspace that signs the questions (Standard Webhooks). Its `hosts` must contain the host of `url`. Absent: the questions are not signed. */
            secret?: string;
            /**
             * @description For the whole response.
             * @default 3000
             */
            timeoutMs?: number;
            /** @description Only calls with these toolsets. Absent: all calls. */
            toolsets?: string[];
            /**
             * Format: uri
             * @description Receives the questions, by POST. Redirects are not followed.
             */
            url: string;
        };
        /** @enum {string} */
        GuardVerdict: "allow" | "replace" | "deny" | "failed";
        /**
         * @example {
         *       "status": "ok",
         *       "version": "0.1.0"
         *     }
         */
        Health: {
            /** @constant */
            status: "ok";
            version: string;
        };
        /**
         * @description In place of a value that may be a credential, which GET does not show. In a write it keeps the stored value at this path. Better, store the value as a secret and give `{"secret": NAME}`.
         * @example {
         *       "hidden": "env.SEED_PHRASE"
         *     }
         */
        HiddenValue: {
            hidden: string;
        };
        /**
         * @example {
         *       "header": "x-signature",
         *       "algorithm": "sha256",
         *       "encoding": "hex",
         *       "prefix": "sha256="
         *     }
         */
        HmacSettings: {
            /**
             * @default sha256
             * @enum {string}
             */
            algorithm?: "sha1" | "sha256" | "sha512";
            /**
             * @default hex
             * @enum {string}
             */
            encoding?: "hex" | "base64" | "base64url";
            /** @description The header that contains the signature. */
            header: string;
            /** @description The header that contains the id of the delivery. Absent: an identical request counts as a repeat. */
            idHeader?: string;
            /**
             * @description The prefix of the signature in its header, such as `sha256=`.
             * @default
             */
            prefix?: string;
            /**
             * @description The signed text: `{body}`, and optionally `{timestamp}` and `{id}`, as in `{timestamp}.{body}`.
             * @default {body}
             */
            signed?: string;
            /** @description The header that contains the time of sending in seconds. If `signed` contains it, requests older or newer than 5 minutes are rejected. */
            timestampHeader?: string;
        };
        Hold: {
            changes: components["schemas"]["DefinitionChange"][];
            findings?: components["schemas"]["Finding"][];
            /** @enum {string} */
            reason: "changed" | "new" | "suspicious" | "server" | "rejected" | "revoked";
            refId: string;
        };
        ImagePart: {
            data?: string;
            mediaType?: string;
            /** @constant */
            type: "image";
            url?: string;
        };
        ImpactRow: {
            ambiguous: number;
            /** @description Calls that would require approval. */
            asked: number;
            /** @description Calls that would not do what they did: by `gone`, `moved`, `ambiguous`, `unusable`, `refused` and `denied`. */
            calls: number;
            days: number;
            /** @description By the policy. */
            denied: number;
            /** @description Calls that the policy would no longer deny, or allow without the approval that they required. */
            eased: number;
            /** @description The most called of these names, at most 5. */
            examples: string[];
            /** @description Calls of names that are gone. The next ones are counts of calls, too. */
            gone: number;
            /** @description false: there are more names, turns or calls than were compared. */
            isWhole: boolean;
            /** @description Deprecated aliases of names and arguments that keep calls working. `mend=true` applies them. */
            mends: number;
            /** @description The operation that returns all of it for a draft. */
            more: string;
            moved: number;
            /** @description As in a project file: `toolsets.work`, `policy`. */
            name: string;
            /** @description Names that would lead elsewhere, or to no tool. */
            names: number;
            /** @description For their arguments, of the turns whose logs were read. */
            refused: number;
            /** @description The row as one sentence. */
            text: string;
            unusable: number;
        };
        ImportReport: {
            /** @description Of the updated documents. `tools.NAME` is a tool of a server. Without `before` and `after`: a value that is not shown; `…`: more changes. */
            changes: {
                /** @description As JSON, shortened. Absent: it is removed. */
                after?: string;
                /** @description As JSON, shortened. Absent: it is added. */
                before?: string;
                name: string;
                path: string;
            }[];
            /** @description Documents that did not exist. As in a project file, such as `servers.github`. */
            created: string[];
            /** @description The format that was read; `zip` for an archive with files of several formats. */
            format: string;
            /** @description For a dry run: what the changed toolsets and rules would have done to the calls of the last days; of those that change one. */
            impact?: components["schemas"]["ImpactRow"][];
            /** @description Documents that others wrote or changed since, which the project replaces or removes only with `force`. For an import, also parts of documents that stay as they are stored, such as `toolsets.claude.tools (github.search)`. */
            kept: {
                name: string;
                reason: string;
            }[];
            /** @description For a dry run: changed toolsets and rules that were not compared with past calls. */
            notCompared?: {
                name: string;
                reason: string;
            }[];
            /** @description Documents that the project had created and no longer has. As in a project file, such as `servers.github`. */
            removed: string[];
            /** @description What was not written. Applying again writes it, once the reason is gone. */
            skipped: {
                name: string;
                reason: string;
            }[];
            /** @description Documents that were already so. As in a project file, such as `servers.github`. */
            unchanged: string[];
            /** @description Documents that were replaced. As in a project file, such as `servers.github`. */
            updated: string[];
            /** @description For a dry run: documents that can be checked only when the servers of the project have listed their tools. */
            waiting: {
                name: string;
                reason: string;
            }[];
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "session": "0123…",
         *       "turn": "turn_1",
         *       "callId": "call_1",
         *       "kind": "approval",
         *       "canonical": "builtin.delete_file",
         *       "reason": "It deletes /workspace/notes.txt, which cannot be undone",
         *       "round": 1,
         *       "state": "pending",
         *       "agent": "demo",
         *       "askedAt": "2026-01-01T08:00:00.000Z",
         *       "expiresAt": "2026-01-08T08:00:00.000Z",
         *       "decidedAt": null,
         *       "decidedBy": null
         *     }
         */
        InboxItem: {
            agent?: string;
            /** Format: date-time */
            askedAt: string;
            callId: string;
            canonical: string | null;
            decidedAt: string | null;
            /** @description Id of the key that decided, `link`, or `clock` when it expired. */
            decidedBy: string | null;
            expiresAt: string | null;
            /** @enum {string} */
            kind: "approval" | "input" | "client-tool";
            /** @description For a nested call: its outer call. */
            parent?: string;
            /** @description The question, shortened. The approval of the session has its arguments and effects. */
            reason: string;
            round: number;
            session: string;
            /**
             * @description `expired`: it ended without a decision.
             * @enum {string}
             */
            state: "pending" | "approved" | "denied" | "answered" | "expired";
            /** @description The trigger that started the session. Absent: it belongs to a key. */
            trigger?: {
                /** @enum {string} */
                kind: "webhook" | "schedule";
                name: string;
            };
            /** @description null for a direct call. */
            turn: string | null;
        };
        /**
         * @example {
         *       "callId": "call_1",
         *       "input": {
         *         "confirm": {
         *           "action": "accept",
         *           "content": {
         *             "name": "Ada"
         *           }
         *         }
         *       },
         *       "round": 1
         *     }
         */
        InputAnswers: {
            callId: string;
            /** @description Answers to all input requests of a server, by the keys of `requests` in `pending`. */
            input: {
                [key: string]: components["schemas"]["ElicitationAnswer"];
            };
            /** @description Round of the input request, so that a repeated answer is not used for the next request. Default: the latest. */
            round?: number;
        };
        /**
         * @description An IPv4 or IPv6 address, or a CIDR range.
         * @example 203.0.113.0/24
         */
        IpRange: string;
        /** @description Any JSON value. */
        JsonValue: unknown;
        JudgedRule: {
            /** @description Why it failed. */
            detail: string | null;
            passed: boolean;
            rule: components["schemas"]["ReplayRule"];
        };
        Key: {
            agents?: string[];
            caller?: {
                [key: string]: string;
            };
            /** Format: date-time */
            createdAt: string;
            egressHosts?: components["schemas"]["SecretHost"][];
            expiresAt: string | null;
            id: string;
            ips?: components["schemas"]["IpRange"][];
            lastUsedAt: string | null;
            limits?: components["schemas"]["UsageLimits"];
            models?: components["schemas"]["ModelPatterns"];
            name: string;
            /** @description Until when an earlier secret works. null: none does. */
            previousExpiresAt: string | null;
            /** @description When an earlier secret that still works was last used after the rotation, to the minute. null: not. */
            previousUsedAt: string | null;
            revokedAt: string | null;
            rotatedAt: string | null;
            scopes: components["schemas"]["Scope"][];
            toolsets?: string[];
            /** @description The key expires within a week, or a client still sends an earlier secret. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "cancelledTurns": 2,
         *       "isDone": true
         *     }
         */
        KeyCancellation: {
            /** @description Number of turns ended so far. */
            cancelledTurns: number;
            /** @description false: more sessions are being processed in the background. */
            isDone: boolean;
        };
        /**
         * @example {
         *       "name": "my app",
         *       "scopes": [
         *         "chat"
         *       ],
         *       "agents": [
         *         "demo"
         *       ]
         *     }
         */
        KeyRequest: {
            /** @description Restricts the key to these agents and to the tools that they use. Absent: all. */
            agents?: string[];
            /**
             * @description Fields for presets of toolsets: `{"caller": "team"}` inserts `team`.
             * @example {
             *       "team": "payments"
             *     }
             */
            caller?: {
                [key: string]: string;
            };
            /**
             * @description The only hosts that tools called with this key may reach, in the form of the hosts of a secret. `[]`: none. Absent: all. Model providers are not limited.
             * @example [
             *       "api.example.com",
             *       "*.example.org"
             *     ]
             */
            egressHosts?: components["schemas"]["SecretHost"][];
            /** @description Absent: after `settings.keys.expiryDays` of the workspace, if set. null: never, also where that is set. */
            expiresAt?: string | null;
            /**
             * @description Addresses and CIDR ranges, IPv4 and IPv6, that requests with this key may come from; others get 403. Absent: all.
             * @example [
             *       "203.0.113.7",
             *       "2001:db8::/32"
             *     ]
             */
            ips?: components["schemas"]["IpRange"][];
            /** @description Limits of this key. The limits of the workspace apply as well. */
            limits?: components["schemas"]["UsageLimits"];
            /** @description Patterns of the only models that the key may use, after aliases, also through agents: `<provider>/<model>` with `*` for any text. Absent: all. */
            models?: components["schemas"]["ModelPatterns"];
            name: string;
            scopes: components["schemas"]["Scope"][];
            /** @description Restricts the key to these toolsets, each in its current version, or in exactly one version (`support@3`). Absent: all, or those of `agents`. */
            toolsets?: string[];
        };
        /**
         * @example {
         *       "overlapSeconds": 3600
         *     }
         */
        KeyRotation: {
            /**
             * @description How long earlier secrets of the key work. 0: they are refused everywhere within 30 seconds.
             * @default 86400
             */
            overlapSeconds?: number;
        };
        /**
         * @example {
         *       "host": "api.example.com",
         *       "approvedBy": "root",
         *       "approvedAt": "2026-01-02T08:00:00.000Z"
         *     }
         */
        KnownHost: {
            /** Format: date-time */
            approvedAt: string;
            /** @description Id of the key. */
            approvedBy: string;
            /** @description With `:port` if it is not the default port. */
            host: string;
        };
        LimitList: {
            items: components["schemas"]["LimitUse"][];
        };
        /**
         * @example {
         *       "of": "key",
         *       "name": "k7pd2mxw4q9z",
         *       "limit": "dailyCost",
         *       "max": 5,
         *       "used": 1.25,
         *       "resetsAt": "2026-01-02T00:00:00.000Z"
         *     }
         */
        LimitUse: {
            /** @enum {string} */
            limit: "requestsPerMinute" | "tokensPerMinute" | "concurrentTurns" | "dailyCost" | "monthlyCost" | "storageBytes" | "sandboxSecondsPerMinute" | "concurrentRequests" | "openStreams" | "pendingQuestions";
            max: number;
            /** @description The name of the workspace or agent, or the id of the key. */
            name: string;
            /** @enum {string} */
            of: "workspace" | "key" | "agent";
            /** @description When the minute, day or month ends. null: the limit has no period. */
            resetsAt: string | null;
            /** @description In the current minute, day or month (UTC), or now. Below the true value by what isolates have not reported yet. */
            used: number;
        };
        LinkDecided: {
            callId: string;
            decision: components["schemas"]["Decision"];
        };
        /**
         * @example {
         *       "decision": "deny"
         *     }
         */
        LinkDecision: {
            decision: components["schemas"]["Decision"];
            /** @description Why, in your words. The event and the audit row of the decision have it, and after a denial the model reads it. The redaction rules of the workspace apply. */
            reason?: string;
            /**
             * @description With `approve`: the same needs no approval in this session from then on, if the approval has `canRemember`.
             * @constant
             */
            remember?: "session";
        };
        ListedReplay: {
            cases: {
                different: number;
                done: number;
                ended: number;
                failed: number;
                /** @description Recorded work that matched and is not in this replay: there is more than its limit. */
                left: number;
                same: number;
                skipped: number;
                total: number;
                unreadable: number;
            };
            /** @description Cases that run at the same time. Default 2. */
            concurrency: number;
            /** Format: date-time */
            createdAt: string;
            endedAt: string | null;
            id: string;
            keyId: string;
            maxCost: number | null;
            /** @description Members of `with` that are too long for a list: a GET of the replay has them. Absent: none. */
            omitted?: ("agent" | "toolset" | "instructions")[];
            reason: string | null;
            /** @description Sums over the cases that were replayed. */
            recorded: components["schemas"]["ReplayFacts"];
            replayed: components["schemas"]["ReplayFacts"];
            rules: {
                failed: number;
                passed: number;
            };
            /**
             * @description `stopped`: `maxCost` was used.
             * @enum {string}
             */
            status: "running" | "completed" | "cancelled" | "stopped" | "failed";
            /** @description null: the cases were in the request. */
            suite: {
                name: string;
                version: number;
            } | null;
            /** @description Attempts of cases that did not end, because a process or a read failed: what they used is in no sum. */
            uncounted: number;
            /**
             * @description What a call does that the recording has no answer for: `end` (default) ends the comparison of its case there; `run-safe` runs it if its tool is safe.
             * @enum {string}
             */
            unmatched: "end" | "run-safe";
            with: components["schemas"]["ReplayWith"];
        };
        /** @description With `fields=summary`: without `inputSchema`, `outputSchema`, `held` and `ui`. */
        ListedTool: {
            /** @description Default aliases. */
            aliases: components["schemas"]["ToolsetAlias"][];
            annotations?: components["schemas"]["ToolAnnotations"];
            /** @description For a tool of an MCP server: whether an administrator accepted its annotations. They also apply if the server is `trusted`. */
            annotationsAccepted?: boolean;
            canonical: string;
            description: string;
            held?: components["schemas"]["Hold"];
            inputSchema?: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            kind: "builtin" | "local" | "mcp" | "openapi" | "static" | "made" | "client" | "ui";
            /** @description For a single made tool: its document. */
            made?: components["schemas"]["MadeToolView"];
            name: string;
            outputSchema?: {
                [key: string]: unknown;
            };
            /** @description SHA-256 of the accepted definition. A toolset entry may name the tool by it. */
            refId: string;
            /** @description For a missing tool: the tool that its server probably lists instead. */
            renamedTo?: string;
            server: string;
            /**
             * @description `held`: cannot be called until its definition is accepted. `missing`: its server no longer lists it.
             * @enum {string}
             */
            state: "ready" | "held" | "missing";
            /** @description For a UI tool: what the user is shown. */
            ui?: components["schemas"]["UiTool"];
            /**
             * @description For a made tool. `private`: only the key that created it can see and call it.
             * @enum {string}
             */
            visibility?: "shared" | "private";
        };
        ListingReport: {
            added: string[];
            /** @description All tools that are currently held. */
            held: string[];
            refused: string[];
            /** @description All tools whose listed definition was rejected. */
            rejected: string[];
            removed: string[];
            renames: {
                from: string;
                to: string;
            }[];
            server: string;
            tools: number;
            /** @description Tools whose changed definition is in force without a review. */
            updated: string[];
            warnings: components["schemas"]["Warning"][];
        };
        LoggedRequest: {
            agent: string | null;
            /** Format: date-time */
            at: string;
            /** @description null unless `settings.requestLog.bodies` of the workspace was on; always null for turns, whose texts are in their session. */
            bodies: components["schemas"]["RequestBodies"] | null;
            /** @description The code of the problem, or the reason of the end of a turn. */
            code: string | null;
            /** @description Of the calls whose cost is known; null: of none. USD, unless a provider has `prices` in another currency. */
            cost: number | null;
            /** @description `openai-chat`, `openai-responses`, `anthropic-messages`, or null. */
            dialect: string | null;
            /** @description What the request asked for and the model was not sent, in the terms of the request. Absent: nothing. */
            dropped?: string[];
            /** @description To the last byte; of a turn with its waits. */
            durationMs: number;
            firstTokenMs: number | null;
            /** @description Id of the row: for a turn the id of the turn. */
            id: string;
            keyId: string;
            /**
             * @description `request`: a request that was sent to a provider without a turn.
             * @enum {string}
             */
            kind: "request" | "turn";
            /** @description As requested: `<provider>/<model>`. */
            model: string | null;
            modelCalls: number;
            /** @description The models that were called. */
            models: string[];
            provider: string | null;
            /** @description The `x-request-id` of the response. null for a turn. */
            requestId: string | null;
            session: string | null;
            /** @enum {string} */
            status: "completed" | "failed" | "cancelled" | "interrupted" | "waiting";
            /** @description null: the response was forwarded unread. */
            toolCalls: number | null;
            /** @description The part of `cost` that calls of tools cost, in USD. Absent: none. */
            toolCost?: number;
            toolset: string | null;
            turn: string | null;
            /** @description Calls whose cost is unknown: the model has no price, or the provider reported no tokens. */
            unpricedCalls: number;
            /** @description null: the provider reported none. */
            usage: components["schemas"]["Usage"] | null;
        };
        MadeParameter: {
            default?: components["schemas"]["JsonValue"];
            /** @default  */
            description?: string;
            name: string;
            /**
             * @description Has no effect if there is a default.
             * @default true
             */
            required?: boolean;
            /** @enum {string} */
            type: "string" | "number" | "boolean" | "array" | "object";
        };
        /**
         * @example {
         *       "description": "Replaces a text in a file.",
         *       "parameters": [
         *         {
         *           "name": "path",
         *           "type": "string",
         *           "description": "The file",
         *           "required": true
         *         },
         *         {
         *           "name": "find",
         *           "type": "string",
         *           "description": "What to look for",
         *           "required": true
         *         },
         *         {
         *           "name": "replace",
         *           "type": "string",
         *           "description": "What to put in its place",
         *           "required": true
         *         }
         *       ],
         *       "implementation": "const read = await tools.read_file({ path: args.path });\nif (!read.success) return { replaced: 0, error: read.error };\nconst parts = read.output.split(args.find);\nawait tools.write_file({ path: args.path, content: parts.join(args.replace) });\nreturn { replaced: parts.length - 1 };"
         *     }
         */
        MadeTool: {
            /** @description Default aliases, used by toolset entries that set none: 2 to 64 of a-z, 0-9, "_" and "-", beginning with a letter. */
            aliases?: string[];
            description: string;
            /** @description The body of an async function: `args` holds the arguments, `await tools.<name>({…})` calls a tool, and the returned value is the result. */
            implementation: string;
            /** @description Must equal the name in the path, with or without `made.`, if given. */
            name?: string;
            /** @description Other names that its code uses for these tools, each with its canonical name: `{"search": "docs.search"}`. */
            names?: {
                [key: string]: string;
            };
            /** @default [] */
            parameters?: components["schemas"]["MadeParameter"][];
            /** @description Canonical names of the tools that it may call. Absent: the tools that its code uses as `tools.<name>` or `tools["<name>"]`. */
            uses?: string[];
        };
        MadeToolView: {
            /** Format: date-time */
            createdAt: string;
            /** @description The body of an async function: `args` holds the arguments, `await tools.<name>({…})` calls a tool, and the returned value is the result. */
            implementation: string;
            /** @description Other names that its code uses for these tools, each with its canonical name: `{"search": "docs.search"}`. */
            names?: {
                [key: string]: string;
            };
            /** @default [] */
            parameters?: components["schemas"]["MadeParameter"][];
            /** Format: date-time */
            updatedAt: string;
            uses: string[];
            version: number;
        };
        MasterKeyState: {
            /**
             * @description Identifies a key and reveals nothing about it.
             * @example 1f0c9ab2
             */
            current: string;
            previous: string | null;
            reseal: {
                /** @description A number of values. */
                done: number;
                finishedAt: string | null;
                /** @description A number of values. */
                left: number;
                /** @description From then on MONIKER_MASTER_KEY_PREVIOUS can be removed from the settings. null: not yet. */
                removableAt: string | null;
                startedAt: string | null;
                /**
                 * @description `failed`: there are unreadable values, or a workspace fails repeatedly, which is still retried.
                 * @enum {string}
                 */
                status: "none" | "running" | "done" | "failed";
                /** @description At most 100; those that are not done come first. */
                workspaces: components["schemas"]["WorkspaceReseal"][];
            };
            /** @description Earlier keys, under which API keys may have been created. They open and sign nothing. */
            retired: string[];
        };
        McpMessage: {
            [key: string]: unknown;
        };
        /**
         * @description What MCP clients of the toolset are listed. `list` (default): its tools. `search`: `find_tools`, `describe_tool` and `call_tool`. `code`: `run_code`, with declarations of the tools, and `find_tools` for those that are not declared.
         * @enum {string}
         */
        McpTools: "list" | "search" | "code";
        /**
         * @example {
         *       "id": "k7pd2mxw4q",
         *       "name": "my app",
         *       "workspace": "default",
         *       "scopes": [
         *         "chat"
         *       ],
         *       "agents": [
         *         "demo"
         *       ],
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "expiresAt": null,
         *       "limits": {
         *         "maxBodyBytes": 1048576,
         *         "maxLargeBodyBytes": 10485760,
         *         "maxFileBytes": 16777216,
         *         "maxSessionFilesBytes": 67108864,
         *         "maxPageItems": 200,
         *         "maxToolsetEntries": 1000,
         *         "maxStepsPerTurn": 16,
         *         "maxCallsPerTurn": 64,
         *         "turnTimeoutMs": 600000,
         *         "approvalTtlMs": 604800000,
         *         "maxOpenQuestions": 6
         *       }
         *     }
         */
        Me: {
            /** @description The agents that the key is bound to. Absent: it is not bound to any. */
            agents?: string[];
            caller?: {
                [key: string]: string;
            };
            /** @description null: the root key, which comes from the settings. */
            createdAt: string | null;
            /** @description The only hosts that tools called with this key may reach. Absent: all. */
            egressHosts?: components["schemas"]["SecretHost"][];
            /** @description null: the key does not expire. */
            expiresAt: string | null;
            id: string;
            /** @description Where requests with this key may come from. Absent: from everywhere. */
            ips?: components["schemas"]["IpRange"][];
            limits: {
                /** @description How long a call waits for its approval before it is denied. */
                approvalTtlMs: number;
                /** @description A JSON body. */
                maxBodyBytes: number;
                /** @description Tool calls of a turn, unless its agent sets another limit. */
                maxCallsPerTurn: number;
                /** @description A file of a session. */
                maxFileBytes: number;
                /** @description A body of the chat APIs, of turns, skills and servers. */
                maxLargeBodyBytes: number;
                /** @description MCP calls of a key that wait for an answer at the same time. */
                maxOpenQuestions: number;
                /** @description `limit` of a list. */
                maxPageItems: number;
                /** @description All files of a session. */
                maxSessionFilesBytes: number;
                /** @description Model calls of a turn, unless its agent sets another limit. */
                maxStepsPerTurn: number;
                /** @description Entries of a toolset. */
                maxToolsetEntries: number;
                /** @description Working time of a turn, unless its agent sets another limit. */
                turnTimeoutMs: number;
            };
            /** @description Patterns of the only models that this key may use. Absent: all. */
            models?: components["schemas"]["ModelPatterns"];
            name: string;
            /** @description The role of the person in the workspace. Absent: no person, or the root key. */
            role?: components["schemas"]["Role"];
            scopes: components["schemas"]["Scope"][];
            /** @description The toolsets that the key is bound to. Absent: it is not bound to any. */
            toolsets?: string[];
            /** @description Limits of this key. `GET /v1/limits` has what is used of them. Absent: none. */
            usageLimits?: components["schemas"]["UsageLimits"];
            /** @description The person who is signed in. Absent: the request has a key. */
            user?: components["schemas"]["User"];
            workspace: string;
        };
        /**
         * @example {
         *       "email": "ada@example.com",
         *       "role": "editor"
         *     }
         */
        Member: {
            /** @description Restricts the member to these agents and to the tools that they use. Absent: all. */
            agents?: string[];
            /** @description Stored in lower case. The identity provider of the person must have verified it. */
            email: string;
            name?: string;
            /** @description `owner`: everything in the workspace. `editor`: uses and writes toolsets, agents and skills. `user`: chats and calls tools. `approver`: decides approvals in all sessions. */
            role: components["schemas"]["Role"];
            /** @description Restricts the member to these toolsets, as for a key. Absent: all, or those of `agents`. */
            toolsets?: string[];
            /** @description Id of the person. The person’s sessions belong to the key `user-<id>`. */
            readonly user?: string;
        };
        /**
         * @example {
         *       "name": "ada",
         *       "email": "ada@example.com",
         *       "role": "editor",
         *       "user": "3f1c…"
         *     }
         */
        MemberView: {
            /** @description Restricts the member to these agents and to the tools that they use. Absent: all. */
            agents?: string[];
            email: string;
            name: string;
            /** @description `owner`: everything in the workspace. `editor`: uses and writes toolsets, agents and skills. `user`: chats and calls tools. `approver`: decides approvals in all sessions. */
            role: components["schemas"]["Role"];
            /** @description Restricts the member to these toolsets, as for a key. Absent: all, or those of `agents`. */
            toolsets?: string[];
            user: string;
        };
        /**
         * @description Members to change (RFC 7396): objects are merged, `null` removes a member, any other value, a list too, replaces.
         * @example {
         *       "description": "Changed."
         *     }
         */
        MergePatch: {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "id": "msg_…",
         *       "type": "message",
         *       "role": "assistant",
         *       "model": "agent/demo",
         *       "content": [
         *         {
         *           "type": "text",
         *           "text": "Hello"
         *         }
         *       ],
         *       "stop_reason": "end_turn",
         *       "stop_sequence": null,
         *       "usage": {
         *         "input_tokens": 12,
         *         "output_tokens": 3
         *       }
         *     }
         */
        MessageAnswer: {
            content: ({
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            id: string;
            model: string;
            /** @constant */
            role: "assistant";
            stop_reason: string | null;
            /** @constant */
            type: "message";
        } & {
            [key: string]: unknown;
        };
        MessageEvent: {
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "max_tokens": 1024,
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "Hello"
         *         }
         *       ]
         *     }
         */
        MessagesRequest: {
            max_tokens: number;
            messages: ({
                content: string | ({
                    type: string;
                } & {
                    [key: string]: unknown;
                })[];
                /** @enum {string} */
                role: "user" | "assistant" | "system";
            } & {
                [key: string]: unknown;
            })[];
            metadata?: ({
                user_id?: string | null;
            } & {
                [key: string]: unknown;
            }) | null;
            model: string;
            output_config?: ({
                effort?: string | null;
                format?: ({
                    type: string;
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            }) | null;
            output_format?: ({
                type: string;
            } & {
                [key: string]: unknown;
            }) | null;
            service_tier?: string | null;
            stop_sequences?: string[] | null;
            stream?: boolean | null;
            system?: (string | ({
                text: string;
                /** @constant */
                type: "text";
            } & {
                [key: string]: unknown;
            })[]) | null;
            temperature?: number | null;
            thinking?: ({
                budget_tokens?: number | null;
                type: string;
            } & {
                [key: string]: unknown;
            }) | null;
            tool_choice?: (({
                disable_parallel_tool_use?: boolean | null;
                /** @constant */
                type: "auto";
            } & {
                [key: string]: unknown;
            }) | ({
                disable_parallel_tool_use?: boolean | null;
                /** @constant */
                type: "any";
            } & {
                [key: string]: unknown;
            }) | ({
                disable_parallel_tool_use?: boolean | null;
                name: string;
                /** @constant */
                type: "tool";
            } & {
                [key: string]: unknown;
            }) | ({
                /** @constant */
                type: "none";
            } & {
                [key: string]: unknown;
            })) | null;
            tools?: ({
                description?: string | null;
                input_schema?: {
                    [key: string]: unknown;
                } | null;
                name?: string;
                strict?: boolean | null;
                type?: string | null;
            } & {
                [key: string]: unknown;
            })[] | null;
            /** @description Extension: the toolset whose tools the service runs. */
            toolset?: string | null;
            top_k?: number | null;
            top_p?: number | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "id": "rehearsal/default",
         *       "object": "model",
         *       "created": 0,
         *       "owned_by": "rehearsal",
         *       "type": "model",
         *       "display_name": "rehearsal/default",
         *       "created_at": "1970-01-01T00:00:00Z"
         *     }
         */
        Model: {
            /** @description Unix time in seconds; 0: not known. */
            created: number;
            /** @description The same as `created`, in Anthropic’s format. */
            created_at: string;
            display_name: string;
            id: string;
            /** @constant */
            object: "model";
            owned_by: string;
            /** @constant */
            type: "model";
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "description": "For clients that only know this name."
         *     }
         */
        ModelAlias: {
            description?: string;
            /**
             * @description The model or the agent that requests with this name use.
             * @example groq/llama-3.3-70b-versatile
             */
            model: string;
            /** @description Optional. Must equal the name in the path. */
            name?: string;
        };
        ModelAliasView: {
            description?: string;
            /**
             * @description The model or the agent that requests with this name use.
             * @example groq/llama-3.3-70b-versatile
             */
            model: string;
            name: string;
        };
        ModelList: {
            data: components["schemas"]["Model"][];
            first_id: string | null;
            /** @constant */
            has_more: false;
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        /**
         * @example [
         *       "openai/gpt-5*",
         *       "anthropic/*"
         *     ]
         */
        ModelPatterns: string[];
        /**
         * @description `<provider>/<model>`, or the name of a model alias, which is resolved for each turn.
         * @example rehearsal/default
         */
        ModelRef: string;
        /**
         * @example {
         *       "firstByteMs": 10000
         *     }
         */
        ModelTimeouts: {
            /** @description Of a streamed reply: the longest pause in it. Default 120000. */
            betweenBytesMs?: number;
            /** @description Of a streamed reply: until its first output. Default 120000. */
            firstByteMs?: number;
            /** @description Of a reply that is not streamed, which arrives when it is complete. Default 600000. */
            wholeMs?: number;
        };
        /**
         * @description Wire names of entries without `name`. `aliases` (default): the first announced alias of the entry, else the tool’s own name. `primary`: the tool’s own name; all aliases are announced as `announce` says.
         * @enum {string}
         */
        NamesMode: "aliases" | "primary";
        OAuthClientMetadata: {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "error": "invalid_grant",
         *       "error_description": "Invalid authorization code"
         *     }
         */
        OAuthError: {
            /** @description A code of RFC 6749 or RFC 7591. */
            error: string;
            error_description?: string;
        };
        OAuthMetadata: {
            [key: string]: unknown;
        };
        OAuthTokens: {
            access_token: string;
            expires_in: number;
            refresh_token: string;
            resource: string;
            scope: string;
            /** @constant */
            token_type: "bearer";
        };
        /** @enum {string} */
        OpenAiApi: "chat" | "own" | "effort" | "reasoning" | "tools" | "responses";
        OpenAiError: {
            error: {
                /** @description The code of a provider’s error, or else the `code` of other paths. */
                code: string | null;
                message: string;
                param: string | null;
                type: string;
            };
        };
        OpenAiTool: {
            function: {
                description?: string | null;
                name: string;
                parameters?: {
                    [key: string]: unknown;
                } | null;
                strict?: boolean | null;
            };
            /** @constant */
            type: "function";
        };
        /**
         * @example {
         *       "server": "github",
         *       "status": "signed-out",
         *       "url": "https://moniker.example.com/connect/github"
         *     }
         */
        OwnConnection: {
            /**
             * Format: date-time
             * @description When the current token expires; it is refreshed automatically.
             */
            expiresAt?: string;
            scopes?: string[];
            server: string;
            /**
             * @description `expired`: the tokens have expired and cannot be refreshed. With `authorization_code` a user has to sign in (again).
             * @enum {string}
             */
            status: "signed-in" | "signed-out" | "expired";
            /** @description The page on which the user connects; null without MONIKER_PUBLIC_URL. */
            url: string | null;
        };
        /**
         * @description As in the API of OpenAI. `model` is `<provider>/<model>` or an alias.
         * @example {
         *       "model": "openai/text-embedding-3-small",
         *       "input": "hello"
         *     }
         */
        PassedRequest: {
            model: string;
        } & {
            [key: string]: unknown;
        };
        Pending: {
            arguments: {
                [key: string]: unknown;
            };
            callId: string;
            canonical: string;
            /** @description With `effects`: the total number of effects. */
            effectCount?: number;
            /** @description For `approval`: the effects of the call that require approval, at most 100. An approval covers exactly these effects. */
            effects?: components["schemas"]["AskedEffect"][];
            /** @enum {string} */
            kind: "approval" | "client-tool" | "input";
            /** @description For a nested call (made by code, a script or a made tool): the id of the outer call. */
            parent?: string;
            reason: string;
            /** @description For `input`: the MCP requests (`elicitation/create`) of the tool’s server, by key. Send the answers to …/tool-results. */
            requests?: {
                [key: string]: {
                    method: string;
                    params: {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Number of the question of this call, from 1. For `approval` it is present from 2 on: the effects of the call have changed since the last question, so send this `round` with the decision to approve the call. */
            round?: number;
        };
        /**
         * @example {
         *       "rules": [
         *         {
         *           "decision": "allow",
         *           "kind": "network",
         *           "host": "api.example.com"
         *         }
         *       ]
         *     }
         */
        Policy: {
            rules: components["schemas"]["PolicyRule"][];
            /**
             * @description The taint rule: once a conversation has seen both private and untrusted content, sending data out requires approval. `ask` is the default; `off` is short for a rule `{decision: "allow", kind: "taint"}`. An agent may override it for itself.
             * @enum {string}
             */
            taint?: "ask" | "off";
        };
        /**
         * @example {
         *       "canonical": "builtin.bash",
         *       "verdict": "ask",
         *       "kind": "delete-file",
         *       "reason": "It deletes /workspace/a.txt, which cannot be undone",
         *       "rule": null,
         *       "effects": [
         *         {
         *           "tool": "builtin.bash",
         *           "effect": {
         *             "kind": "delete-file",
         *             "path": "/workspace/a.txt"
         *           },
         *           "verdict": "ask",
         *           "reason": "It deletes /workspace/a.txt, which cannot be undone",
         *           "rule": null
         *         }
         *       ]
         *     }
         */
        PolicyAnswer: {
            canonical: string | null;
            /** @description The effects of the call, as far as they are known without running it; at most 200. A script of `builtin.bash` runs on temporary copies of the files, without sending or calling anything. For a made tool: the verdict for each tool that it may call, as far as it is known without arguments; they do not affect the verdict of the call. */
            effects: {
                effect: components["schemas"]["PolicyEffect"];
                reason: string;
                rule: number | null;
                /** @description null: no tool was given. */
                tool: string | null;
                /** @enum {string} */
                verdict: "allow" | "ask" | "deny";
            }[];
            /** @description For the verdict `ask`: the first question. */
            kind: components["schemas"]["AskKind"] | null;
            /** @description What the verdict does not cover: arguments that would be rejected, files that were not checked, calls that are checked later. */
            notes?: string[];
            reason: string;
            /** @description The rule that decided. null: the default without rules. */
            rule: {
                /** @description Index in the document, from 0. */
                index: number;
                rule: components["schemas"]["PolicyRule"];
            } | null;
            /** @enum {string} */
            verdict: "allow" | "ask" | "deny";
            /** @description Names in the rules of `policy` that are not there. */
            warnings?: components["schemas"]["Warning"][];
        };
        PolicyEffect: {
            does: ("read" | "write" | "destroy") | null;
            /** @constant */
            kind: "call";
            sends: boolean;
            trusted: boolean;
        } | {
            /** @constant */
            kind: "read-file";
            /**
             * @description Absolute path.
             * @example /workspace/notes.txt
             */
            path: string;
        } | {
            /**
             * @default create
             * @enum {string}
             */
            change?: "create" | "append" | "overwrite" | "attributes" | "move-away";
            /** @constant */
            kind: "write-file";
            /**
             * @description Whether the session wrote the current content.
             * @default true
             */
            own?: boolean;
            /**
             * @description Absolute path.
             * @example /workspace/notes.txt
             */
            path: string;
        } | {
            /** @constant */
            kind: "delete-file";
            /**
             * @description Absolute path.
             * @example /workspace/notes.txt
             */
            path: string;
        } | {
            host: string;
            /** @constant */
            kind: "network";
            /** @default GET */
            method?: string;
        } | {
            /** @constant */
            kind: "secret";
            name: string;
        } | {
            /** @enum {string} */
            change: "create-tool" | "share-tool" | "replace-tool" | "write-toolset" | "delete-toolset";
            /** @constant */
            kind: "registry";
            name: string;
        } | {
            /** @constant */
            kind: "resource";
            /** @description `<server>.<URI>`, or `<server>.<name>` of a prompt. */
            name: string;
            /**
             * @description Whether the server is trusted.
             * @default false
             */
            trusted?: boolean;
        } | {
            /** @constant */
            kind: "prompt";
            /** @description `<server>.<URI>`, or `<server>.<name>` of a prompt. */
            name: string;
            /**
             * @description Whether the server is trusted.
             * @default false
             */
            trusted?: boolean;
        };
        PolicyImpact: {
            /** @description By tool and deciding rules, the most calls first, at most 100. The reasons are those of one of the calls. */
            changed: {
                /** @description At most 20. */
                agents: string[];
                calls: number;
                /** @description At most 20. */
                keys: string[];
                now: {
                    reason: string;
                    /** @description Index of the rule. null: the default, the entry of the toolset, or a known host. */
                    rule: number | null;
                    /** @enum {string} */
                    verdict: "allow" | "ask" | "deny";
                };
                /** @description At most 20. */
                sessions: string[];
                tool: string;
                was: {
                    reason: string;
                    /** @description Index of the rule. null: the default, the entry of the toolset, or a known host. */
                    rule: number | null;
                    /** @enum {string} */
                    verdict: "allow" | "ask" | "deny";
                };
            }[];
            changedCalls: number;
            /** Format: date */
            from: string;
            /** @description Indexes of the rules that decided none of the calls. */
            idle: number[];
            /** @description Calls that were judged, each with both. */
            judged: number;
            /** @description Counts beyond 30,000 combinations of toolset and tool, and of agent or key where a rule names one, were not read. */
            more: boolean;
            /** Format: date */
            to: string;
            /** @description The turns whose calls were read, the newest first. */
            turns: {
                /** @description Not read: turns of more than 50 sessions, of a session that was deleted, or of another key. */
                left: number;
                /** @description Older turns were not looked for. */
                more: boolean;
                read: number;
            };
            unjudged: {
                /** @description Calls whose arguments decide, of which only hashes are kept, or whose turn was not read. */
                arguments: number;
                /** @description Calls of code, scripts and made tools. They are in `judged`, without what they do while they run. */
                inner: number;
                /** @description Calls of tools that are not there now, that the client has, or whose entries are decided differently. */
                tools: number;
            };
            /** @description Names in rules that are not there, so that the rule matches nothing. */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "tool": "builtin.bash",
         *       "arguments": {
         *         "command": "rm -rf build; curl https://api.example.com/done"
         *       }
         *     }
         */
        PolicyQuestion: {
            /** @description Tests as if in a turn of this agent. */
            agent?: string;
            /** @description Arguments of the call. */
            arguments?: {
                [key: string]: unknown;
            };
            /** @description Tests this effect, whatever causes it. */
            effect?: components["schemas"]["PolicyEffect"];
            /** @description Tests as if called with the key of this id. Absent: the key of the request. */
            key?: string;
            /** @description Tests these rules instead of the stored ones, for example before they are written. */
            policy?: components["schemas"]["Policy"];
            /** @description With `toolset`: uses the files and taint marks of this session. Absent: files to be deleted are assumed to exist, and a script runs on an empty workspace. */
            session?: string;
            /**
             * @description Canonical name; with `toolset`, any name that it resolves. With `effect`: the tool that would have the effect.
             * @example builtin.bash
             */
            tool?: string;
            toolset?: string;
        };
        /**
         * @example {
         *       "decision": "deny",
         *       "tool": "github.*",
         *       "effect": "destroy",
         *       "note": "issues are kept"
         *     }
         */
        PolicyRule: {
            /**
             * @description Name of the agent of the turn.
             * @example support
             */
            agent?: string;
            /**
             * @description The decision for matching effects.
             * @example deny
             * @enum {string}
             */
            decision: "allow" | "ask" | "deny";
            /**
             * @description The effect. `write`: anything is changed; in rules that deny or ask it includes `destroy`, in rules that allow it does not. `send`: data leaves the service.
             * @example send
             * @enum {string}
             */
            effect?: "read" | "write" | "destroy" | "send";
            /**
             * @description Host of a request, with `:port` if it is not the default port. `*.example.com` matches all subdomains but not `example.com`. Without a port, a rule that denies or asks applies to every port.
             * @example api.example.com
             */
            host?: string;
            /**
             * @description Id of the calling key.
             * @example key_4fmr…
             */
            key?: string;
            /**
             * @description The kind of question. Only rules with the kind `taint` allow effects that the taint rule covers.
             * @example delete-file
             * @enum {string}
             */
            kind?: "delete-file" | "overwrite-file" | "write-outside" | "network" | "destructive" | "untrusted" | "registry" | "taint";
            /**
             * @description HTTP method of a request.
             * @example POST
             */
            method?: string;
            /**
             * @description Name of the toolset, or canonical name of the made tool, to be changed.
             * @example made.find_and_replace
             */
            name?: string;
            /**
             * @description The reason, shown in messages. The policy does not evaluate it.
             * @example reports go by mail
             */
            note?: string;
            /**
             * @description The path and everything below it.
             * @example /tmp
             */
            path?: string;
            /**
             * @description The prompt that is requested: `<server>.<name>`, with a `*` at the end for any text.
             * @example docs.review
             */
            prompt?: string;
            /**
             * @description The resource that is read or subscribed to: `<server>.<URI>`, with a `*` at the end for any text.
             * @example docs.file:///public/*
             */
            resource?: string;
            /**
             * @description Name of the secret to be read.
             * @example GITHUB
             */
            secret?: string;
            /**
             * @description Canonical name, or `server.*` for all tools, resources and prompts of a server. Requests for resources and prompts are calls of `<server>.<method of MCP>`, such as `docs.resources/read`.
             * @example builtin.http_request
             */
            tool?: string;
        };
        /** @description A value; `{"secret": "NAME"}`; `{"caller": "field"}`, a field of the calling key (`key`, `workspace`, or a field set when the key was created); or `{"value": …}` for a literal object that has one of these forms. */
        PresetValue: {
            secret: string;
        } | {
            caller: string;
        } | {
            value: components["schemas"]["JsonValue"];
        } | components["schemas"]["JsonValue"];
        Price: {
            /** @description Of input that is read from the provider’s cache. Default: `input`. */
            cachedInput?: number;
            /** @description Of input that is written to the provider’s cache. Default: `input`. */
            cacheWrite?: number;
            /** @description Of input that is written to the provider’s cache for an hour. Default: `cacheWrite`. */
            cacheWriteHour?: number;
            input: number;
            output: number;
        };
        /**
         * @example {
         *       "gpt-5*": {
         *         "input": 1.25,
         *         "output": 10
         *       }
         *     }
         */
        Prices: {
            [key: string]: components["schemas"]["Price"];
        };
        /**
         * @example {
         *       "type": "urn:moniker:problem:not_found",
         *       "title": "There is no such thing",
         *       "status": 404,
         *       "detail": "There is no toolset \"demo\".",
         *       "code": "not_found",
         *       "requestId": "req_1"
         *     }
         */
        Problem: {
            /** @enum {string} */
            code: "malformed_request" | "invalid_json" | "unauthenticated" | "forbidden" | "not_found" | "unknown_tool" | "model_not_found" | "method_not_allowed" | "conflict" | "name_conflict" | "acknowledgement_required" | "ambiguous_tool" | "tool_held" | "precondition_failed" | "body_too_large" | "unsupported_media_type" | "invalid_request" | "idempotency_mismatch" | "rate_limited" | "internal" | "upstream_error" | "not_configured" | "unavailable" | "upstream_timeout" | "loop_detected";
            /** @description What is wrong, and what to do. */
            detail: string;
            /** @description With `invalid_request`: every issue with its path, such as `tools[1].aliases[0]`. */
            issues?: {
                message: string;
                path: string;
            }[];
            requestId?: string;
            status: number;
            title: string;
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description Documents of a workspace by kind and name, each with the body of its PUT request.
         * @example {
         *       "secrets": {
         *         "GITHUB_TOKEN": {
         *           "value": "${GITHUB_TOKEN}",
         *           "hosts": [
         *             "api.githubcopilot.com"
         *           ]
         *         }
         *       },
         *       "servers": {
         *         "github": {
         *           "kind": "mcp",
         *           "url": "https://api.githubcopilot.com/mcp/",
         *           "headers": {
         *             "authorization": {
         *               "secret": "GITHUB_TOKEN"
         *             }
         *           }
         *         }
         *       },
         *       "toolsets": {
         *         "work": {
         *           "tools": [
         *             {
         *               "tool": "github.*"
         *             },
         *             {
         *               "tool": "builtin.bash",
         *               "aliases": [
         *                 "shell"
         *               ]
         *             }
         *           ]
         *         }
         *       },
         *       "agents": {
         *         "helper": {
         *           "model": "rehearsal/default",
         *           "toolset": "work"
         *         }
         *       }
         *     }
         */
        Project: {
            /** @description The URL of this schema, for editors. */
            $schema?: string;
            agents?: {
                [key: string]: components["schemas"]["Agent"];
            };
            members?: {
                [key: string]: components["schemas"]["Member"];
            };
            modelAliases?: {
                [key: string]: components["schemas"]["ModelAlias"];
            };
            policy?: components["schemas"]["Policy"];
            providers?: {
                [key: string]: components["schemas"]["Provider"];
            };
            schedules?: {
                [key: string]: components["schemas"]["Schedule"];
            };
            secrets?: {
                [key: string]: components["schemas"]["ProjectSecret"];
            };
            servers?: {
                [key: string]: components["schemas"]["Server"];
            };
            skills?: {
                [key: string]: components["schemas"]["ProjectSkill"];
            };
            subscriptions?: {
                [key: string]: components["schemas"]["Subscription"];
            };
            suites?: {
                [key: string]: components["schemas"]["Suite"];
            };
            /** @description Default aliases, by canonical name of the tool. */
            toolAliases?: {
                [key: string]: components["schemas"]["ToolAliases"];
            };
            /** @description Made tools and UI tools, by canonical name: `made.<name>`, `ui.<name>`. */
            tools?: {
                [key: string]: components["schemas"]["MadeTool"] | components["schemas"]["UiTool"];
            };
            toolsets?: {
                [key: string]: components["schemas"]["Toolset"];
            };
            webhooks?: {
                [key: string]: components["schemas"]["Webhook"];
            };
            /** @description The settings of the workspace, as for PUT /v1/workspaces/{workspace}. */
            workspace?: components["schemas"]["Workspace"];
        };
        ProjectPage: {
            items: components["schemas"]["ProjectView"][];
            nextCursor: null;
        };
        ProjectReport: {
            /** @description Of the updated documents. `tools.NAME` is a tool of a server. Without `before` and `after`: a value that is not shown; `…`: more changes. */
            changes: {
                /** @description As JSON, shortened. Absent: it is removed. */
                after?: string;
                /** @description As JSON, shortened. Absent: it is added. */
                before?: string;
                name: string;
                path: string;
            }[];
            /** @description Documents that did not exist. As in a project file, such as `servers.github`. */
            created: string[];
            /** @description For a dry run: what the changed toolsets and rules would have done to the calls of the last days; of those that change one. */
            impact?: components["schemas"]["ImpactRow"][];
            /** @description Documents that others wrote or changed since, which the project replaces or removes only with `force`. For an import, also parts of documents that stay as they are stored, such as `toolsets.claude.tools (github.search)`. */
            kept: {
                name: string;
                reason: string;
            }[];
            /** @description For a dry run: changed toolsets and rules that were not compared with past calls. */
            notCompared?: {
                name: string;
                reason: string;
            }[];
            project: string;
            /** @description Documents that the project had created and no longer has. As in a project file, such as `servers.github`. */
            removed: string[];
            /** @description What was not written. Applying again writes it, once the reason is gone. */
            skipped: {
                name: string;
                reason: string;
            }[];
            /** @description Documents that were already so. As in a project file, such as `servers.github`. */
            unchanged: string[];
            /** @description Documents that were replaced. As in a project file, such as `servers.github`. */
            updated: string[];
            /** @description For a dry run: documents that can be checked only when the servers of the project have listed their tools. */
            waiting: {
                name: string;
                reason: string;
            }[];
            warnings: components["schemas"]["Warning"][];
        };
        ProjectSecret: {
            /** @description The only hosts that the secret may be sent to. Absent: the hosts of the servers and providers of the project that name the secret. */
            hosts?: components["schemas"]["SecretHost"][];
            /** @description Canonical names of tools. If given, only these tools may use the secret. */
            tools?: string[];
            /** @description Usually `${VARIABLE}`. Absent: the stored value stays, and a secret that does not exist is skipped. */
            value?: string;
        };
        ProjectSkill: {
            /** @description The folder with SKILL.md, relative to the project file. */
            path: string;
        } | {
            /** @description The text of SKILL.md, at most 102400 bytes. */
            content: string;
            /**
             * @description Resource files by path: text, `{"text"}` or `{"base64"}`. At most 200, 102400 bytes each, 512000 in total with SKILL.md.
             * @default {}
             */
            resources?: {
                [key: string]: string | {
                    /** @description Size in bytes; ignored on writes. */
                    bytes?: number;
                    text: string;
                } | {
                    /** Format: base64 */
                    base64: string;
                    /** @description Size in bytes; ignored on writes. */
                    bytes?: number;
                };
            };
        };
        ProjectView: {
            documents: {
                /** @description The project created it, and may remove it. */
                created: boolean;
                /** @example servers.github */
                name: string;
                /**
                 * @description Whether it is still as the project wrote it.
                 * @enum {string}
                 */
                state: "current" | "changed" | "missing";
            }[];
            name: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /**
         * @description Prompts of an MCP server, by `<server>.<name>`; a `*` at the end stands for any text.
         * @example {
         *       "prompt": "docs.review",
         *       "name": "code_review",
         *       "aliases": [
         *         "review"
         *       ]
         *     }
         */
        PromptEntry: string | {
            /** @description Further names that clients may use. */
            aliases?: string[];
            approval?: components["schemas"]["ApprovalRule"];
            /** @description Replaces the prompt’s own description. */
            description?: string;
            /** @description The name for clients. Default: the prompt’s own name. */
            name?: string;
            prompt: string;
        };
        Proposal: {
            canonical: string;
            category: string;
            href?: string;
            label: string;
            relevance: number;
            /** @description One sentence for the person. */
            text: string;
        };
        /**
         * @example {
         *       "kind": "openai-compatible",
         *       "baseUrl": "http://127.0.0.1:11434/v1",
         *       "models": [
         *         "llama3.2"
         *       ]
         *     }
         */
        Provider: {
            /** @description Write-only. Stored encrypted. */
            apiKey?: string;
            /** @description Name of the secret that contains the key. */
            apiKeySecret?: string;
            /**
             * Format: uri
             * @description Everything before `/chat/completions`, `/responses`, `/messages`, `/models/{model}:…` `/chat` (Cohere) or `/api/chat` (Ollama). Required for kind `openai-compatible`.
             * @example http://127.0.0.1:11434/v1
             */
            baseUrl?: string;
            /** @description Shown by GET; ignored here. */
            readonly hasApiKey?: boolean;
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            kind: components["schemas"]["ProviderKind"];
            /** @description Models listed by `/v1/models`. */
            models?: string[];
            /** @description Optional. Must equal the name in the path. */
            name?: string;
            /** @description Per million tokens, by model; used to enforce `limits.maxCost` of an agent. */
            prices?: components["schemas"]["Prices"];
            profile?: components["schemas"]["ProviderProfile"];
            /**
             * @description Shown by GET; ignored here.
             * @enum {string}
             */
            readonly source?: "document" | "settings" | "builtin";
            timeouts?: components["schemas"]["ModelTimeouts"];
        };
        /** @enum {string} */
        ProviderKind: "openai" | "openai-compatible" | "openai-responses" | "anthropic" | "gemini" | "cohere" | "ollama";
        ProviderProfile: {
            /** @description Kinds `openai` and `openai-compatible`: which requests are sent by the Responses API instead of Chat Completions. `chat`: none. `own`: those of Responses clients. `effort`: also those with tools and a reasoning effort other than `none`. `reasoning`: also those with tools without an effort. `tools`: all with tools. `responses`: all. Each value includes those before it. */
            api?: components["schemas"]["OpenAiApi"];
            /** @description An assistant message is required between tool results and the next user message. */
            assistantAfterToolResult?: boolean;
            /** @description Reasoning is valid only with everything that preceded it: it is sent back while the tools of its turn run, and dropped once the preceding messages may be summarized. */
            boundReasoning?: boolean;
            /**
             * @description Marks of the prompt cache: `none`; those of clients, as `prompt_cache_breakpoint` (`breakpoint`) or `cache_control` (`given`); `automatic`: also those of the service.
             * @enum {string}
             */
            cacheMarks?: "none" | "breakpoint" | "given" | "automatic";
            /** @description Call ids must have exactly this many letters and digits (Mistral: 9). */
            callIdLength?: number | null;
            /** @description The first call of each step must include the signature it was received with; a call without one gets the documented placeholder. */
            callSignatures?: boolean;
            /** @description Assistant messages with `content: null` are rejected. */
            contentNeverNull?: boolean;
            /** @description Kind `ollama`: the context length with which the model is loaded (`num_ctx`). null: the server decides. */
            contextTokens?: number | null;
            /** @description Sent if the request sets no limit and the API requires one. */
            defaultMaxTokens?: number | null;
            /** @description Chat Completions: the reasoning of turns with tool calls is sent back as `reasoning_content`, whichever model produced it. */
            echoReasoning?: boolean;
            /** @description The accepted effort levels, lowest first; any other value is mapped to the nearest. null: any. */
            efforts?: string[] | null;
            /** @description Streams with tool calls are known to be in the format that clients expect, and are passed on unchanged. */
            exact?: boolean;
            /** @description OpenAI’s APIs: which of the less common settings are accepted: the id of the user, the service tier, the verbosity, and the key, the retention and the options of the prompt cache. */
            extraSettings?: ("user" | "serviceTier" | "verbosity" | "promptCacheKey" | "promptCacheRetention" | "promptCacheOptions")[];
            /** @description Files that the model accepts in the input and in tool results, and whether by URL. Others are replaced by a line of text; files of text are sent as text. */
            files?: ("pdf" | "audio" | "video" | "url")[];
            /** @description A response format and tools are accepted in one request. */
            formatWithTools?: boolean;
            /** @description Images in the input are accepted; otherwise each one is replaced by a line of text. */
            images?: boolean;
            /** @description Images in tool results are accepted; if results can only contain text, they follow in a user message. Otherwise each one is replaced by a line of text. */
            imagesInResults?: boolean;
            /** @description Maximum input tokens of an image. Limits of tokens and cost reserve it for each image of a request. */
            imageTokens?: number;
            /** @description The provider has a JSON mode without a schema; otherwise the model is only asked for JSON. */
            jsonMode?: boolean;
            /** @description Kind `ollama`: how long the model stays loaded after a request (`keep_alive`). null: the server decides. */
            keepAlive?: string | null;
            /** @description The provider’s own call ids are sent back in any format. */
            keepCallIds?: boolean;
            /** @description Maximum length of call ids, which consist of letters, digits, `_` and `-`. Used if `callIdLength` is not set. */
            maxCallIdLength?: number;
            /** @description Maximum output tokens of a reply whose request sets no limit. Limits of tokens and cost reserve it for each such request. */
            maxOutputTokens?: number;
            /** @description Maximum number of stop sequences; further ones are not sent. */
            maxStops?: number | null;
            /**
             * @description The field of Chat Completions that limits the output tokens.
             * @enum {string}
             */
            maxTokensField?: "max_tokens" | "max_completion_tokens";
            /** @description Maximum length of a tool description in characters; longer ones are cut. */
            maxToolDescription?: number | null;
            /** @description Maximum number of tools in one request; further tools are dropped from the end and reported. */
            maxTools?: number | null;
            /** @description The smallest accepted budget: above 0 if thinking cannot be switched off. */
            minReasoningBudget?: number;
            /** @description Calls and their results have no id. */
            noCallIds?: boolean;
            /** @description Frequency and presence penalties are rejected. */
            noPenalties?: boolean;
            /** @description Every stream and reply is read on its way, and mended where clients could not read it; otherwise only those that may have calls. */
            normalize?: boolean;
            /** @description Temperature and other sampling settings are rejected. */
            noSampling?: boolean;
            /** @description Stop sequences are rejected. */
            noStop?: boolean;
            /** @description The provider enforces the schema of a response format; otherwise the model is only asked for it. */
            outputSchema?: boolean;
            /** @description The provider accepts `parallel_tool_calls`, or its own equivalent. */
            parallelToolCalls?: boolean;
            /**
             * @description How an assistant message at the end is sent, which the model continues: as it is, marked with the field `prefix` or `partial`, or followed by a user message.
             * @enum {string}
             */
            prefill?: "plain" | "prefix" | "partial" | "refused";
            /**
             * @description `text`: tools are described in the prompt, and calls are parsed from the model’s text. An agent’s `protocol` takes precedence.
             * @enum {string}
             */
            protocol?: "native" | "text";
            /**
             * @description How the reasoning amount is sent: an effort level, a token budget, a budget chosen by the model, or not at all.
             * @enum {string}
             */
            reasoning?: "effort" | "budget" | "adaptive" | "none";
            /** @description Chat Completions: fields of assistant messages, and of calls, that the server rejects. They are left out of requests that are passed on, and named. */
            refusedFields?: ("reasoning_content" | "reasoning" | "reasoning_text" | "reasoning_details" | "reasoning_opaque" | "thinking_blocks" | "extra_content" | "provider_specific_fields")[];
            /** @description The value that forces a call of any tool, if it is not `required`. */
            requiredToolChoice?: string | null;
            /** @description The subset of JSON Schema that the provider accepts for tools. */
            schemas?: components["schemas"]["SchemaDialect"];
            /**
             * @description The field of Chat Completions for the seed.
             * @enum {string}
             */
            seedField?: "seed" | "random_seed";
            /** @description The usage of streams is requested with `stream_options`. */
            streamUsage?: boolean;
            /** @description The provider enforces the schema of a tool with `strict`. */
            strictTools?: boolean;
            /** @description The first message must be a user message, and system messages are rejected: the system text is put before the user’s text. */
            systemInUser?: boolean;
            /**
             * @description Where system messages are accepted: `first`: at the beginning, `afterUser`: also behind a user message. Others become user messages that say so.
             * @enum {string}
             */
            systemPlace?: "anywhere" | "afterUser" | "first";
            /** @description Chat Completions: thinking is switched by `thinking: {type: enabled | disabled}`. */
            thinkingSwitch?: boolean;
            /**
             * @description `begin`: a text that begins with reasoning in `<think>` is split, in turns and translated chats. `opened`: the text begins in the reasoning, and has the end tag alone.
             * @enum {string}
             */
            thinkTags?: "none" | "begin" | "opened";
            /**
             * @description `forced`: accepts `auto`, `none`, `required` and one tool by name. `required`: does not accept a tool name, so a named tool is the only one sent. `auto`: accepts `auto` and `none`; a forced choice is not sent. `absent`: no tool choice is sent; for `none` the tools are left out.
             * @enum {string}
             */
            toolChoice?: "forced" | "required" | "auto" | "absent";
            /** @description Tool results contain the name of the tool. */
            toolResultName?: boolean;
            /** @description Chat Completions: `top_k` is accepted, which OpenAI itself rejects. */
            topK?: boolean;
            /** @description The provider searches the web for the model, which requests of translated APIs may ask for. */
            webSearch?: boolean;
        };
        ProviderView: {
            /** @description Name of the secret that contains the key. */
            apiKeySecret?: string;
            /**
             * Format: uri
             * @description Everything before `/chat/completions`, `/responses`, `/messages`, `/models/{model}:…` `/chat` (Cohere) or `/api/chat` (Ollama). Required for kind `openai-compatible`.
             * @example http://127.0.0.1:11434/v1
             */
            baseUrl?: string;
            hasApiKey: boolean;
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @enum {string} */
            kind: "openai" | "openai-compatible" | "openai-responses" | "anthropic" | "gemini" | "cohere" | "ollama" | "rehearsal";
            /** @description Models listed by `/v1/models`. */
            models?: string[];
            name: string;
            /** @description Per million tokens, by model; used to enforce `limits.maxCost` of an agent. */
            prices?: components["schemas"]["Prices"];
            profile?: components["schemas"]["ProviderProfile"];
            /**
             * @description `document`: written here. `settings`: from the settings of the service, such as `OPENAI_API_KEY`; a PUT of its name replaces it. `builtin`: cannot be changed.
             * @enum {string}
             */
            source: "document" | "settings" | "builtin";
            timeouts?: components["schemas"]["ModelTimeouts"];
        };
        /**
         * @example {
         *       "status": "ok",
         *       "checks": {
         *         "storage": "ok",
         *         "kv": "ok",
         *         "keys": "ok"
         *       },
         *       "staleToolsets": 0,
         *       "servers": {
         *         "ok": 4,
         *         "degraded": 1,
         *         "failing": 0,
         *         "unauthorized": 0,
         *         "unknown": 0
         *       }
         *     }
         */
        Readiness: {
            checks: {
                /** @enum {string} */
                keys: "ok" | "fail";
                /** @enum {string} */
                kv: "ok" | "fail";
                /** @enum {string} */
                storage: "ok" | "fail";
            };
            /** @description How many servers of the first workspace have each health, counted at most every 10 s. A server that is not `ok` does not make the service unready. `null`: they could not be counted. */
            servers: {
                [key: string]: number;
            } | null;
            /** @description Toolsets of the first workspace that are compiled with the tools of another build. After a deployment they are compiled again in the background; `GET /v1/toolsets/{toolset}/tools` warns of those that cannot be. `null`: they could not be counted; the log has the cause. */
            staleToolsets: number | null;
            /** @constant */
            status: "ok";
        };
        ReasoningPart: {
            text: string;
            /** @constant */
            type: "reasoning";
        };
        /**
         * @example {
         *       "to": "get_forecast"
         *     }
         */
        RebindRequest: {
            /** @description Own or canonical name of the replacement tool. */
            to: string;
        };
        /**
         * @example {
         *       "toolsets": [
         *         "demo"
         *       ]
         *     }
         */
        Rebound: {
            /** @description The toolsets that have a new version now. */
            toolsets: string[];
        };
        /**
         * @example {
         *       "rules": [
         *         "secret",
         *         "email",
         *         "card"
         *       ],
         *       "patterns": [],
         *       "results": true,
         *       "logs": true
         *     }
         */
        Redaction: {
            /**
             * @description Whether the rules apply to the log and to the stored bodies of requests.
             * @default true
             */
            logs?: boolean;
            /** @default [] */
            patterns?: components["schemas"]["RedactionPattern"][];
            /**
             * @description Whether the rules apply to results: what models, clients and the log of a session get.
             * @default true
             */
            results?: boolean;
            /**
             * @description Built-in rules: `secret` (keys and tokens of well-known formats, private keys), `email`, `phone`, `card` (with a valid check digit), `iban` (with a valid checksum), `ip` and `ssn` (US).
             * @default []
             */
            rules?: components["schemas"]["RedactionRule"][];
            /** @description Only results of calls with these toolsets. Absent: all results. Logs are redacted in any case. */
            toolsets?: string[];
        };
        /**
         * @example {
         *       "name": "employee",
         *       "pattern": "EMP-[0-9]{6}",
         *       "replaceWith": "[employee]"
         *     }
         */
        RedactionPattern: {
            name: string;
            /** @description A regular expression of RE2: without backreferences and lookaround, with at most 2,000 states when it is compiled. `(?i)` ignores case. It must not match the empty text. */
            pattern: string;
            /** @description Absent: the name in brackets. */
            replaceWith?: string;
        };
        /** @enum {string} */
        RedactionRule: "secret" | "email" | "phone" | "card" | "iban" | "ip" | "ssn";
        /**
         * @example {
         *       "webhook": "triage",
         *       "day": "2026-01-01",
         *       "count": 3,
         *       "lastAt": "2026-01-01T12:00:00.000Z"
         *     }
         */
        RefusedDeliveries: {
            /** @description Requests without a valid signature. They are counted in the background, and not all if a location stops. */
            count: number;
            /**
             * Format: date
             * @description In UTC.
             */
            day: string;
            /**
             * Format: date-time
             * @description When the last ones were counted.
             */
            lastAt: string;
            webhook: string;
        };
        /**
         * @example {
         *       "kind": "prompt",
         *       "name": "review"
         *     }
         */
        RejectOffer: {
            /** @enum {string} */
            kind: "prompt" | "resource" | "template";
            /** @description The name of a prompt, the URI of a resource, or a template. */
            name: string;
            /** @description The reason, shown with the rejection. */
            note?: string;
            /** @description `refId` of the reviewed definition. If the server now lists another definition, nothing is rejected (409). */
            refId?: string;
        };
        /**
         * @example {
         *       "note": "Asks for the whole conversation."
         *     }
         */
        RejectRequest: {
            /** @description The reason, shown with the rejection. */
            note?: string;
            /** @description `refId` of the reviewed definition. If the server now lists another definition, nothing is rejected (409). */
            refId?: string;
        };
        Repair: {
            /** @description The value as JSON, shortened. */
            from: string;
            /** @description Such as `filter.tags[0]`. */
            path: string;
            /** @description What the tool received: JSON, shortened; `nothing` for an optional argument that was removed. */
            to: string;
        };
        Replay: {
            cases: {
                different: number;
                done: number;
                ended: number;
                failed: number;
                /** @description Recorded work that matched and is not in this replay: there is more than its limit. */
                left: number;
                same: number;
                skipped: number;
                total: number;
                unreadable: number;
            };
            /** @description Cases that run at the same time. Default 2. */
            concurrency: number;
            /** Format: date-time */
            createdAt: string;
            endedAt: string | null;
            id: string;
            keyId: string;
            maxCost: number | null;
            reason: string | null;
            /** @description Sums over the cases that were replayed. */
            recorded: components["schemas"]["ReplayFacts"];
            replayed: components["schemas"]["ReplayFacts"];
            rules: {
                failed: number;
                passed: number;
            };
            /**
             * @description `stopped`: `maxCost` was used.
             * @enum {string}
             */
            status: "running" | "completed" | "cancelled" | "stopped" | "failed";
            /** @description null: the cases were in the request. */
            suite: {
                name: string;
                version: number;
            } | null;
            /** @description Attempts of cases that did not end, because a process or a read failed: what they used is in no sum. */
            uncounted: number;
            /**
             * @description What a call does that the recording has no answer for: `end` (default) ends the comparison of its case there; `run-safe` runs it if its tool is safe.
             * @enum {string}
             */
            unmatched: "end" | "run-safe";
            with: components["schemas"]["ReplayWith"];
        };
        ReplayCase: {
            calls: {
                added: number;
                changed: number;
                missing: number;
                same: number;
            };
            number: number;
            reason: string | null;
            recorded: components["schemas"]["ReplayFacts"] | null;
            replayed: components["schemas"]["ReplayFacts"] | null;
            request: string | null;
            rules: components["schemas"]["JudgedRule"][];
            session: string | null;
            status: components["schemas"]["ReplayCaseStatus"];
            turn: string | null;
        };
        ReplayCaseDetail: {
            calls: {
                added: number;
                changed: number;
                missing: number;
                same: number;
            };
            differences: components["schemas"]["CallDifference"][];
            input: (components["schemas"]["TextPart"] | components["schemas"]["ImagePart"] | components["schemas"]["FilePart"])[];
            /** @description There are so many calls that the differences are correct, but may not be the fewest. Absent: they are. */
            isApproximate?: boolean;
            number: number;
            reason: string | null;
            recorded: components["schemas"]["ReplayFacts"] | null;
            recordedSide: components["schemas"]["ReplaySide"] | null;
            replayed: components["schemas"]["ReplayFacts"] | null;
            replayedSide: components["schemas"]["ReplaySide"] | null;
            request: string | null;
            rules: components["schemas"]["JudgedRule"][];
            session: string | null;
            status: components["schemas"]["ReplayCaseStatus"];
            turn: string | null;
        };
        /**
         * @description `same`: the same calls, and no error. `ended`: a call had no recorded answer, so that the comparison ends there. `unreadable`: the recording is gone, or cannot be replayed. `skipped`: for the budget, or because the replay was cancelled.
         * @enum {string}
         */
        ReplayCaseStatus: "waiting" | "running" | "same" | "different" | "ended" | "failed" | "unreadable" | "skipped";
        ReplayFacts: {
            /** @description Calls that required an approval. */
            approvals: number;
            cachedInputTokens: number;
            /** @description Calls of tools by the model, without those inside of other calls. */
            calls: number;
            /** @description Of models and tools, in USD. null: not known. */
            cost: number | null;
            /** @description Of the calls of models. */
            durationMs: number;
            /** @description Includes cached input. */
            inputTokens: number;
            outputTokens: number;
            /** @description Calls of models, also failed ones. */
            steps: number;
        };
        /**
         * @example {
         *       "suite": "support",
         *       "with": {
         *         "model": "openai/gpt-5-mini"
         *       }
         *     }
         */
        ReplayRequest: {
            cases?: components["schemas"]["SuiteCase"][];
            /**
             * @description Cases that run at the same time. Default 2.
             * @default 2
             */
            concurrency?: number;
            /** @description In USD. Cases that would start after so much was used are skipped. */
            maxCost?: number;
            /** @description With `select` or `cases`; a suite has its own. */
            rules?: components["schemas"]["ReplayRule"][];
            select?: components["schemas"]["SuiteSelection"];
            suite?: string;
            /**
             * @description What a call does that the recording has no answer for: `end` (default) ends the comparison of its case there; `run-safe` runs it if its tool is safe.
             * @default end
             * @enum {string}
             */
            unmatched?: "end" | "run-safe";
            /** @default {} */
            with?: components["schemas"]["ReplayWith"];
        };
        /**
         * @description A fact that must hold for a case; one member.
         * @example {
         *       "calls": "same"
         *     }
         */
        ReplayRule: {
            /**
             * @description The replay makes the recorded calls: the same tools with the same arguments, in the same order or in any.
             * @enum {string}
             */
            calls: "same" | "same-any-order";
        } | {
            /** @description `json-equal`: the answer is the same JSON value as the recorded one, or as the given one. `contains`: it has this text, with this case. */
            answer: "json-equal" | {
                contains: string;
            } | {
                "json-equal": components["schemas"]["JsonValue"];
            };
        } | {
            /** @description Calls of tools by the model. */
            maxCalls: number;
        } | {
            /** @description In USD. Fails if the cost is not known. */
            maxCost: number;
        };
        ReplaySide: {
            calls: {
                /** @description The tool’s own arguments: as the tool receives them, whatever the toolset calls them. null: they were no JSON object. */
                arguments: {
                    [key: string]: unknown;
                } | null;
                canonical: string | null;
                code: components["schemas"]["ToolResultCode"] | null;
                isError: boolean;
                requested: string;
            }[];
            /** @description The answer: the text of the last step. */
            text: string;
        };
        /**
         * @description What replaces that of the recording. Empty: as recorded.
         * @example {
         *       "model": "openai/gpt-5-mini"
         *     }
         */
        ReplayWith: {
            /** @description An agent, one version of it, or a draft of one. */
            agent?: string | {
                /**
                 * @description If a tool of the caller has a name of a server tool: `replace` (default) leaves the server tool out of the turn, `strict` rejects the request.
                 * @enum {string}
                 */
                clientTools?: "replace" | "strict";
                /** @description Replaces the tools that the model sees with a single tool, `run_code`, whose code calls them. Results stay out of the conversation unless the code returns them. */
                codeMode?: boolean;
                description?: string;
                fallbacks?: components["schemas"]["ModelRef"][];
                /** @default  */
                instructions?: string;
                limits?: components["schemas"]["AgentLimits"];
                /** @description Also offers the made tools of the workspace whose inner tools the agent can use. Takes effect on the next turn. */
                made?: boolean;
                model: components["schemas"]["ModelRef"];
                /** @description Patterns of the only models that turns of the agent may use, after aliases. Absent: all. A turn with another one is rejected. */
                models?: components["schemas"]["ModelPatterns"];
                /**
                 * @description How tool definitions are sent to the model: in the API’s tool fields, or in the prompt. Absent: the provider’s profile decides.
                 * @enum {string}
                 */
                protocol?: "native" | "text";
                settings?: components["schemas"]["AgentSettings"];
                /** @description Names of the skills that the agent may load. */
                skills?: string[];
                /** @description Requires approval before data is sent out of a conversation that contains private and untrusted content. Absent: the policy decides. `false` applies to the agent’s own toolset only, and needs an unbound key with scope `admin`; other keys then cannot change what the agent can do. */
                taint?: boolean;
                timeouts?: components["schemas"]["ModelTimeouts"];
                /** @description Allow-list of tool names in any spelling. Absent: all tools of the toolset; empty: none. */
                tools?: string[];
                /** @description The toolset whose tools the agent can use: the newest version, or a fixed version such as `demo@3`. */
                toolset?: components["schemas"]["ToolsetReference"];
            };
            instructions?: string;
            model?: components["schemas"]["ModelRef"];
            /** @description A toolset, one version of it, or a draft of one. */
            toolset?: components["schemas"]["ToolsetReference"] | components["schemas"]["Toolset"];
        };
        RequestBodies: {
            /** @description null: it was binary. */
            request: string | null;
            /** @description As text, also of a stream. null: it was binary, or there was none. */
            response: string | null;
            /** @description Whether one of them is longer than what is stored. */
            truncated: boolean;
        };
        RequestEntry: {
            agent: string | null;
            /** Format: date-time */
            at: string;
            /** @description The code of the problem, or the reason of the end of a turn. */
            code: string | null;
            /** @description Of the calls whose cost is known; null: of none. USD, unless a provider has `prices` in another currency. */
            cost: number | null;
            /** @description `openai-chat`, `openai-responses`, `anthropic-messages`, or null. */
            dialect: string | null;
            /** @description What the request asked for and the model was not sent, in the terms of the request. Absent: nothing. */
            dropped?: string[];
            /** @description To the last byte; of a turn with its waits. */
            durationMs: number;
            firstTokenMs: number | null;
            /** @description Id of the row: for a turn the id of the turn. */
            id: string;
            keyId: string;
            /**
             * @description `request`: a request that was sent to a provider without a turn.
             * @enum {string}
             */
            kind: "request" | "turn";
            /** @description As requested: `<provider>/<model>`. */
            model: string | null;
            modelCalls: number;
            /** @description The models that were called. */
            models: string[];
            provider: string | null;
            /** @description The `x-request-id` of the response. null for a turn. */
            requestId: string | null;
            session: string | null;
            /** @enum {string} */
            status: "completed" | "failed" | "cancelled" | "interrupted" | "waiting";
            /** @description null: the response was forwarded unread. */
            toolCalls: number | null;
            /** @description The part of `cost` that calls of tools cost, in USD. Absent: none. */
            toolCost?: number;
            toolset: string | null;
            turn: string | null;
            /** @description Calls whose cost is unknown: the model has no price, or the provider reported no tokens. */
            unpricedCalls: number;
            /** @description null: the provider reported none. */
            usage: components["schemas"]["Usage"] | null;
        };
        /**
         * @example {
         *       "requested": "Shell",
         *       "canonical": "builtin.bash",
         *       "wireName": "terminalRun",
         *       "via": "folded",
         *       "aliases": [
         *         "shell",
         *         "bash"
         *       ],
         *       "because": "\"Shell\" is \"shell\" in another spelling, which is an announced alias of builtin.bash; the wire name is \"terminalRun\".",
         *       "entry": "tools[0]",
         *       "server": "builtin",
         *       "ownName": "bash",
         *       "kind": "builtin",
         *       "state": "ready",
         *       "approval": "policy",
         *       "refId": "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2"
         *     }
         */
        ResolvedName: {
            aliases: string[];
            approval: components["schemas"]["ApprovalRule"];
            /** @description The entry’s argument settings: presets are hidden from the model. Secrets are shown by name only. */
            arguments?: components["schemas"]["EntryArguments"];
            /** @description Why the name means this tool, in a sentence. */
            because: string;
            /** @description Why it cannot be called. Absent if it can. */
            blocked?: string;
            canonical: string;
            /** @description Deprecation notice for calls by this name. */
            deprecated?: string;
            /**
             * @description Its path in the document; null for a tool that is added automatically.
             * @example tools[0]
             */
            entry: string | null;
            held?: components["schemas"]["Hold"];
            /** @enum {string} */
            kind: "builtin" | "local" | "mcp" | "openapi" | "static" | "made" | "client" | "ui";
            /** @description The name from its source. */
            ownName: string;
            /** @description `refId` of the accepted definition. */
            refId?: string;
            /** @description For a missing tool: the tool that now has its definition. */
            renamedTo?: string;
            requested: string;
            result?: components["schemas"]["EntryResult"];
            server: string;
            state: components["schemas"]["ToolState"];
            via: components["schemas"]["Via"];
            wireName: string;
        };
        /**
         * @description Resources of an MCP server, by `<server>.<URI>` (or a URI template that it lists); a `*` at the end stands for any text. It also covers URIs that match a listed template, or that a result in the same session linked to.
         * @example {
         *       "resource": "docs.file:///srv/handbook.md",
         *       "uri": "docs://handbook",
         *       "name": "Handbook"
         *     }
         */
        ResourceEntry: string | {
            /** @description Further URIs that clients may use. */
            aliases?: string[];
            approval?: components["schemas"]["ApprovalRule"];
            /** @description Replaces the resource’s own description. */
            description?: string;
            /** @description The name for people. Replaces the title, too. */
            name?: string;
            resource: string;
            /** @description The URI for clients of a listed resource. Default: its own URI. */
            uri?: string;
        };
        Response: {
            id: string;
            /** @constant */
            object: "response";
            /** @description Messages, reasoning, calls of the caller’s own tools, and requests for approval. */
            output?: ({
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            status: string;
        } & {
            [key: string]: unknown;
        };
        ResponseEvent: {
            sequence_number?: number;
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "input": "Hello"
         *     }
         */
        ResponsesRequest: {
            background?: boolean | null;
            /** @description A string, or items: messages, calls and their outputs, reasoning. */
            input: string | ({
                type?: string;
            } & {
                [key: string]: unknown;
            })[];
            instructions?: string | null;
            max_output_tokens?: number | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            model: string;
            parallel_tool_calls?: boolean | null;
            /** @description The id of an earlier answer of a session. The session continues from it, and `input` contains only new items. */
            previous_response_id?: string | null;
            prompt_cache_key?: string | null;
            prompt_cache_options?: {
                [key: string]: unknown;
            } | null;
            prompt_cache_retention?: string | null;
            reasoning?: ({
                effort?: string | null;
                summary?: string | null;
            } & {
                [key: string]: unknown;
            }) | null;
            safety_identifier?: string | null;
            service_tier?: string | null;
            store?: boolean | null;
            stream?: boolean | null;
            temperature?: number | null;
            text?: ({
                format?: ({
                    type: string;
                } & {
                    [key: string]: unknown;
                }) | null;
                verbosity?: string | null;
            } & {
                [key: string]: unknown;
            }) | null;
            tool_choice?: (("auto" | "none" | "required") | ({
                /** @enum {string} */
                mode?: "auto" | "required";
                name?: string;
                tools?: ({
                    name?: string;
                    type?: string;
                } & {
                    [key: string]: unknown;
                })[];
                type: string;
            } & {
                [key: string]: unknown;
            })) | null;
            tools?: ({
                description?: string | null;
                format?: ({
                    definition?: string;
                    syntax?: string;
                    type?: string;
                } & {
                    [key: string]: unknown;
                }) | null;
                name?: string;
                parameters?: {
                    [key: string]: unknown;
                } | null;
                strict?: boolean | null;
                tools?: ({
                    name?: string;
                    type: string;
                } & {
                    [key: string]: unknown;
                })[] | null;
                type: string;
            } & {
                [key: string]: unknown;
            })[] | null;
            /** @description Extension: the toolset whose tools the service runs. */
            toolset?: string | null;
            top_p?: number | null;
            user?: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "state": "restoring",
         *       "nextPart": 12,
         *       "sessionsLeft": 0,
         *       "skipped": []
         *     }
         */
        RestoreState: {
            /** @description The number of the next part, from 0, which is expected first in the next request. */
            nextPart: number;
            /** @description While clearing or finishing: sessions that are not done. */
            sessionsLeft: number;
            /** @description What was not restored, in the response to the last part. */
            skipped: {
                kind: string;
                name: string;
                reason: string;
            }[];
            /**
             * @description `none`: no restore is in progress. `clearing`: sessions of the workspace are being deleted; send the same lines again. `restoring`: send the archive from line `nextPart`. `finishing`: the workspace is usable, and its sessions become available one after the other.
             * @enum {string}
             */
            state: "none" | "clearing" | "restoring" | "finishing";
        };
        /**
         * @example {
         *       "turn": "turn_1",
         *       "status": "running",
         *       "pending": []
         *     }
         */
        ResultsTaken: {
            /** @description What the turn still waits for. */
            pending: components["schemas"]["Pending"][];
            /** @description `running`, or `waiting` while other results are missing. */
            status: string;
            turn: string;
        };
        /**
         * @example {
         *       "toolset": "demo",
         *       "version": 1,
         *       "retired": true,
         *       "warnings": []
         *     }
         */
        RetiredVersion: {
            retired: boolean;
            toolset: string;
            version: number;
            /** @description Agents and keys that name the version. */
            warnings: components["schemas"]["Warning"][];
        };
        ReviewedAgent: {
            /**
             * @description If a tool of the caller has a name of a server tool: `replace` (default) leaves the server tool out of the turn, `strict` rejects the request.
             * @enum {string}
             */
            clientTools?: "replace" | "strict";
            /** @description Replaces the tools that the model sees with a single tool, `run_code`, whose code calls them. Results stay out of the conversation unless the code returns them. */
            codeMode?: boolean;
            description?: string;
            fallbacks?: components["schemas"]["ModelRef"][];
            /** @default  */
            instructions?: string;
            limits?: components["schemas"]["AgentLimits"];
            /** @description Also offers the made tools of the workspace whose inner tools the agent can use. Takes effect on the next turn. */
            made?: boolean;
            model: components["schemas"]["ModelRef"];
            /** @description Patterns of the only models that turns of the agent may use, after aliases. Absent: all. A turn with another one is rejected. */
            models?: components["schemas"]["ModelPatterns"];
            name: string;
            /**
             * @description How tool definitions are sent to the model: in the API’s tool fields, or in the prompt. Absent: the provider’s profile decides.
             * @enum {string}
             */
            protocol?: "native" | "text";
            settings?: components["schemas"]["AgentSettings"];
            /** @description Names of the skills that the agent may load. */
            skills?: string[];
            /** @description Requires approval before data is sent out of a conversation that contains private and untrusted content. Absent: the policy decides. `false` applies to the agent’s own toolset only, and needs an unbound key with scope `admin`; other keys then cannot change what the agent can do. */
            taint?: boolean;
            timeouts?: components["schemas"]["ModelTimeouts"];
            /** @description Allow-list of tool names in any spelling. Absent: all tools of the toolset; empty: none. */
            tools?: string[];
            /** @description The toolset whose tools the agent can use: the newest version, or a fixed version such as `demo@3`. */
            toolset?: components["schemas"]["ToolsetReference"];
            /** @description Problems in the current workspace, such as names that match no tool or a missing toolset. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        ReviewedOffer: {
            decisions?: components["schemas"]["DefinitionDecision"][];
            /** @description The definition in force, else the listed one. */
            definition: {
                [key: string]: unknown;
            };
            findings?: components["schemas"]["Finding"][];
            held?: components["schemas"]["Hold"];
            /** @enum {string} */
            kind: "prompt" | "resource" | "template";
            /** @description Of a prompt its name, of a resource its URI, of a template itself. */
            name: string;
            /** @description SHA-256 of this definition. */
            refId: string;
            /** @enum {string} */
            state: "ready" | "held" | "rejected" | "missing";
        };
        ReviewedSchedule: {
            /** @description The agent that runs the turns. */
            agent: string;
            /**
             * Format: date-time
             * @description The time of a single run, with its offset, as in `2026-12-24T18:00:00+01:00`.
             */
            at?: string;
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            /** @description Five fields, as in `0 9 * * 1-5`: minute, hour, day, month, weekday; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. If both day and weekday are given, either is enough; `+MON` requires both. `L` is the last day, `MON#2` the second Monday. */
            cron?: string;
            description?: string;
            /** @description Shown by GET; ignored on writes. */
            readonly hasCallbackSecret: boolean;
            /** @description Template of the agent’s input. `{{@time}}` is when the run was due, in UTC; `{{@schedule}}` is the name, and `{{@delivery}}` the id of the run. */
            input: string;
            /** @description The time between runs, such as `15m`. The first run is one interval after the write. */
            interval?: string;
            /** @description The newest run that was not skipped; null: none in the last 30 days. */
            readonly lastRun: components["schemas"]["Delivery"] | null;
            name: string;
            /** @description null: no further run, or paused. */
            readonly nextRunAt: string | null;
            /**
             * @description What happens to a run that is due before the previous one has ended: it is skipped, or runs afterwards. A run that waits for an approval has not ended.
             * @default skip
             * @enum {string}
             */
            overlap?: "skip" | "queue";
            /** @description Stops all runs. Runs that are due meanwhile are not made up for, queued runs are skipped, and an interval restarts when the schedule is resumed. */
            paused?: boolean;
            /**
             * @description Template of the session’s key; `{{@schedule}}` is one session for all runs. Absent: a new session for each run.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The time zone of `cron`, such as `Europe/Berlin`. Absent: UTC. */
            timeZone?: string;
            /** @description Problems with the document in the current workspace. Absent: none. */
            readonly warnings?: components["schemas"]["Warning"][];
        };
        ReviewedSubscription: {
            /** @description Only turns of these agents, and no messages about other things. Absent: all. */
            agents?: string[];
            description?: string;
            /** @description Absent: all events. */
            events?: components["schemas"]["TriggerEvent"][];
            hasSecret: boolean;
            name: string;
            /** @description No new messages are sent. */
            paused?: boolean;
            /** Format: uri */
            url: string;
            /** @description Problems with the document in the current workspace. Absent: none. */
            readonly warnings?: components["schemas"]["Warning"][];
        };
        ReviewedWebhook: {
            /** @description The agent that runs the turns. */
            agent: string;
            /** @description For scheme `bearer`. Absent: `Authorization: Bearer <secret>`. */
            bearer?: components["schemas"]["BearerSettings"];
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            description?: string;
            /** @description CEL over `event`, `payload` and `headers`, such as `event == "issues" && payload.action in ["opened", "edited"]`. Other events are stored as `ignored`, also if a field in the expression is missing; test for it with `has(payload.field)` or `"X-Kind" in headers`. */
            filter?: string;
            /** @description false: the first of its secrets signs callbacks. */
            readonly hasCallbackSecret: boolean;
            /** @description Shown by GET; ignored on writes. */
            readonly hasSecret: boolean;
            /** @description Required for scheme `hmac`, and only valid there. */
            hmac?: components["schemas"]["HmacSettings"];
            /** @description Template of the agent’s input: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}` with `{{this}}` and `{{@index}}`, `{{#if path}}…{{else}}…{{/if}}`. Values other than a single plain word are put between `<data>` and `</data>`. */
            input: string;
            name: string;
            /** @description Deliveries are stored as `ignored` and can be replayed. */
            paused?: boolean;
            /**
             * @description `sync`: waits up to 25 s and responds with the turn’s text.
             * @default async
             * @enum {string}
             */
            respond?: "async" | "sync";
            /** @description How deliveries are signed. */
            scheme: components["schemas"]["WebhookScheme"];
            /** @description Number of accepted secrets. */
            readonly secrets: number;
            /**
             * @description Template of the session’s key: deliveries with the same key share a session. Different values never make the same key: with `{{a}}:{{b}}`, `:` and `%` in `a` are percent-encoded. Absent: a new session for each delivery.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The URL for the sender. Only a path if MONIKER_PUBLIC_URL is not set. */
            readonly url: string;
            /** @description Problems with the document in the current workspace. Absent: none. */
            readonly warnings?: components["schemas"]["Warning"][];
        };
        /** @enum {string} */
        Role: "owner" | "editor" | "user" | "approver";
        /**
         * @example {
         *       "version": 1
         *     }
         */
        Rollback: {
            /** @description `true`: the tools that this removes are revoked. */
            revoke?: boolean;
            /** @description The version to restore. */
            version: number;
        };
        RpcError: {
            error: {
                code: number;
                data?: {
                    /** @enum {string} */
                    code?: "malformed_request" | "invalid_json" | "unauthenticated" | "forbidden" | "not_found" | "unknown_tool" | "model_not_found" | "method_not_allowed" | "conflict" | "name_conflict" | "acknowledgement_required" | "ambiguous_tool" | "tool_held" | "precondition_failed" | "body_too_large" | "unsupported_media_type" | "invalid_request" | "idempotency_mismatch" | "rate_limited" | "internal" | "upstream_error" | "not_configured" | "unavailable" | "upstream_timeout" | "loop_detected";
                    requestId?: string;
                } & {
                    [key: string]: unknown;
                };
                /** @description What is wrong, and what to do. */
                message: string;
            };
            id: string | number | null;
            /** @constant */
            jsonrpc: "2.0";
        };
        /**
         * @example {
         *       "threadId": "t1",
         *       "runId": "r1",
         *       "messages": [
         *         {
         *           "id": "m1",
         *           "role": "user",
         *           "content": "Hello"
         *         }
         *       ],
         *       "tools": [],
         *       "context": []
         *     }
         */
        RunAgentInput: {
            /** @description Is added to the instructions. */
            context?: ({
                description: string;
                value: string;
            } & {
                [key: string]: unknown;
            })[] | null;
            /** @description The whole conversation, as the client has it. */
            messages: ({
                content?: unknown;
                error?: string | null;
                id?: string;
                /** @enum {string} */
                role: "user" | "assistant" | "system" | "developer" | "tool" | "activity" | "reasoning";
                toolCallId?: string;
                toolCalls?: ({
                    function: {
                        arguments: string;
                        name: string;
                    } & {
                        [key: string]: unknown;
                    };
                    id: string;
                } & {
                    [key: string]: unknown;
                })[] | null;
            } & {
                [key: string]: unknown;
            })[];
            /** @description Answers to interrupts: payload `{"approved": true}` or `{"approved": false, "reason": "…"}`, the reason optional. To a question of a tool’s server: the fields of `responseSchema`. */
            resume?: ({
                interruptId: string;
                payload?: unknown;
                /** @enum {string} */
                status: "resolved" | "cancelled";
            } & {
                [key: string]: unknown;
            })[] | null;
            runId: string;
            threadId: string;
            /** @description Tools that the client runs. */
            tools?: ({
                description?: string | null;
                name: string;
                parameters?: {
                    [key: string]: unknown;
                } | null;
            } & {
                [key: string]: unknown;
            })[] | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "agent": "demo",
         *       "cron": "0 9 * * 1-5",
         *       "timeZone": "Europe/Berlin",
         *       "input": "/shell echo good morning"
         *     }
         */
        Schedule: {
            /** @description The agent that runs the turns. */
            agent: string;
            /**
             * Format: date-time
             * @description The time of a single run, with its offset, as in `2026-12-24T18:00:00+01:00`.
             */
            at?: string;
            /** @description Write-only. Signs the callbacks; `whsec_` and base64. If absent in a later PUT, the current one stays. */
            callbackSecret?: string;
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            /** @description Five fields, as in `0 9 * * 1-5`: minute, hour, day, month, weekday; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. If both day and weekday are given, either is enough; `+MON` requires both. `L` is the last day, `MON#2` the second Monday. */
            cron?: string;
            description?: string;
            /** @description Template of the agent’s input. `{{@time}}` is when the run was due, in UTC; `{{@schedule}}` is the name, and `{{@delivery}}` the id of the run. */
            input: string;
            /** @description The time between runs, such as `15m`. The first run is one interval after the write. */
            interval?: string;
            /** @description If given, equals the name in the path. */
            name?: string;
            /**
             * @description What happens to a run that is due before the previous one has ended: it is skipped, or runs afterwards. A run that waits for an approval has not ended.
             * @default skip
             * @enum {string}
             */
            overlap?: "skip" | "queue";
            /** @description Stops all runs. Runs that are due meanwhile are not made up for, queued runs are skipped, and an interval restarts when the schedule is resumed. */
            paused?: boolean;
            /**
             * @description Template of the session’s key; `{{@schedule}}` is one session for all runs. Absent: a new session for each run.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The time zone of `cron`, such as `Europe/Berlin`. Absent: UTC. */
            timeZone?: string;
        };
        ScheduleTimes: {
            times: string[];
        };
        /**
         * @example {
         *       "draft": {
         *         "agent": "demo",
         *         "interval": "15m",
         *         "input": "Look for news."
         *       },
         *       "count": 5
         *     }
         */
        ScheduleTimesPreview: {
            /** @default 5 */
            count?: number;
            draft: components["schemas"]["ScheduleToWrite"];
        };
        /**
         * @example {
         *       "agent": "demo",
         *       "cron": "0 9 * * 1-5",
         *       "timeZone": "Europe/Berlin",
         *       "input": "/shell echo good morning"
         *     }
         */
        ScheduleToWrite: {
            /** @description The agent that runs the turns. */
            agent: string;
            /**
             * Format: date-time
             * @description The time of a single run, with its offset, as in `2026-12-24T18:00:00+01:00`.
             */
            at?: string;
            /** @description Write-only. Signs the callbacks; `whsec_` and base64. If absent in a later PUT, the current one stays. */
            callbackSecret?: string;
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            /** @description Five fields, as in `0 9 * * 1-5`: minute, hour, day, month, weekday; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. If both day and weekday are given, either is enough; `+MON` requires both. `L` is the last day, `MON#2` the second Monday. */
            cron?: string;
            description?: string;
            /** @description Shown by GET; ignored on writes. */
            readonly hasCallbackSecret?: boolean;
            /** @description Template of the agent’s input. `{{@time}}` is when the run was due, in UTC; `{{@schedule}}` is the name, and `{{@delivery}}` the id of the run. */
            input: string;
            /** @description The time between runs, such as `15m`. The first run is one interval after the write. */
            interval?: string;
            lastRun?: unknown;
            /** @description If given, equals the name in the path. */
            name?: string;
            /** @description null: no further run, or paused. */
            readonly nextRunAt?: string | null;
            /**
             * @description What happens to a run that is due before the previous one has ended: it is skipped, or runs afterwards. A run that waits for an approval has not ended.
             * @default skip
             * @enum {string}
             */
            overlap?: "skip" | "queue";
            /** @description Stops all runs. Runs that are due meanwhile are not made up for, queued runs are skipped, and an interval restarts when the schedule is resumed. */
            paused?: boolean;
            /**
             * @description Template of the session’s key; `{{@schedule}}` is one session for all runs. Absent: a new session for each run.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The time zone of `cron`, such as `Europe/Berlin`. Absent: UTC. */
            timeZone?: string;
            /** @description Problems with the document in the current workspace. Absent: none. */
            readonly warnings?: components["schemas"]["Warning"][];
        };
        ScheduleView: {
            /** @description The agent that runs the turns. */
            agent: string;
            /**
             * Format: date-time
             * @description The time of a single run, with its offset, as in `2026-12-24T18:00:00+01:00`.
             */
            at?: string;
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            /** @description Five fields, as in `0 9 * * 1-5`: minute, hour, day, month, weekday; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. If both day and weekday are given, either is enough; `+MON` requires both. `L` is the last day, `MON#2` the second Monday. */
            cron?: string;
            description?: string;
            /** @description Shown by GET; ignored on writes. */
            readonly hasCallbackSecret: boolean;
            /** @description Template of the agent’s input. `{{@time}}` is when the run was due, in UTC; `{{@schedule}}` is the name, and `{{@delivery}}` the id of the run. */
            input: string;
            /** @description The time between runs, such as `15m`. The first run is one interval after the write. */
            interval?: string;
            /** @description The newest run that was not skipped; null: none in the last 30 days. */
            readonly lastRun: components["schemas"]["Delivery"] | null;
            name: string;
            /** @description null: no further run, or paused. */
            readonly nextRunAt: string | null;
            /**
             * @description What happens to a run that is due before the previous one has ended: it is skipped, or runs afterwards. A run that waits for an approval has not ended.
             * @default skip
             * @enum {string}
             */
            overlap?: "skip" | "queue";
            /** @description Stops all runs. Runs that are due meanwhile are not made up for, queued runs are skipped, and an interval restarts when the schedule is resumed. */
            paused?: boolean;
            /**
             * @description Template of the session’s key; `{{@schedule}}` is one session for all runs. Absent: a new session for each run.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The time zone of `cron`, such as `Europe/Berlin`. Absent: UTC. */
            timeZone?: string;
        };
        /** @enum {string} */
        SchemaDialect: "full" | "openai" | "openai-strict" | "anthropic" | "anthropic-strict" | "gemini" | "gemini-openapi" | "cohere" | "ollama";
        /** @enum {string} */
        Scope: "chat" | "tools" | "toolsets" | "approve" | "admin";
        /**
         * @example {
         *       "value": "the token",
         *       "hosts": [
         *         "api.example.com"
         *       ]
         *     }
         */
        Secret: {
            /** @description The only hosts that the secret may be sent to. */
            hosts: components["schemas"]["SecretHost"][];
            /** @description Canonical names of tools. If given, only these tools may use the secret. */
            tools?: string[];
            /** @description Write-only. Stored encrypted. */
            value: string;
        };
        /** @example api.example.com */
        SecretHost: string;
        /** @description A secret without its value. */
        SecretView: {
            /** Format: date-time */
            createdAt: string;
            /** @description The only hosts that the secret may be sent to. */
            hosts: components["schemas"]["SecretHost"][];
            name: string;
            /** @description Canonical names of tools. If given, only these tools may use the secret. */
            tools?: string[];
            /** Format: date-time */
            updatedAt: string;
        };
        SelectedCase: {
            agent: string | null;
            /** @description When the work began. null: not read yet. */
            at: string | null;
            model: string | null;
            /** @description Why it cannot be replayed. null: nothing is known against it. */
            reason: string | null;
            request: string | null;
            /** @description Those of the case itself. */
            rules: components["schemas"]["ReplayRule"][];
            session: string | null;
            turn: string | null;
        };
        /**
         * @example {
         *       "kind": "static",
         *       "url": "https://tools.example.com/call",
         *       "headers": {
         *         "authorization": {
         *           "secret": "TOOLS_TOKEN"
         *         }
         *       },
         *       "trusted": true,
         *       "tools": [
         *         {
         *           "name": "get_weather",
         *           "description": "Weather of a city.",
         *           "inputSchema": {
         *             "type": "object",
         *             "properties": {
         *               "city": {
         *                 "type": "string"
         *               }
         *             },
         *             "required": [
         *               "city"
         *             ]
         *           }
         *         }
         *       ]
         *     }
         */
        Server: {
            /** @description Sent with each request to the server. Secrets are sent unchanged (so a token is stored as `Bearer <token>`) and must be bound to the host of the URL. */
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Sent to models together with the tools, if the server is `trusted`. */
            instructions?: string;
            /** @constant */
            kind: "static";
            /** @description If given, equals the name in the path. */
            name?: string;
            price?: components["schemas"]["ServerPrice"];
            /**
             * @description Added to the query of each request to the server. A secret is the value alone, and must be bound to the host of the URL. It replaces a parameter of the same name.
             * @example {
             *       "api_key": {
             *         "secret": "DOCS_KEY"
             *       }
             *     }
             */
            query?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            tools: {
                [key: string]: unknown;
            }[];
            /** @description Trusts the tool annotations: calls of read-only or idempotent tools may be retried, and only destructive tools require approval. Absent or false: every call of an MCP tool requires approval until an administrator accepts its annotations. */
            trusted?: boolean;
            /**
             * @description Changes of tools that are in force without a review. `compatible`: texts, and schemas that accept what callers sent before, with annotations that promise no less; new tools, unless they say that they are destructive. `accept`: all changes. `review`: none; each is held. Findings always take a review. Default: `accept` for what an administrator writes (the tools of a `static` server, the document and the selection of an `openapi` server); for what the server lists `compatible` if it is `trusted`, otherwise `review`.
             * @enum {string}
             */
            updates?: "review" | "compatible" | "accept";
            /**
             * @description Receives one POST per call: `{"name", "arguments"}`.
             * @example https://tools.example.com/call
             */
            url: string;
        } | {
            /** @description Arguments of the command. No shell interprets them. */
            args?: (string | {
                secret: string;
            } | components["schemas"]["HiddenValue"])[];
            /** @description Shown by GET; ignored in PUT. */
            authorization?: unknown;
            /**
             * @description Instead of `url`: a program of this machine that speaks MCP on standard input and output. Only for a local Moniker.
             * @example npx
             */
            command?: string;
            /** @description Shown by GET; ignored in PUT. */
            connection?: unknown;
            /** @description The working folder. Absent: the home folder of the user, or `home` of the data folder if that is not writable. */
            cwd?: string;
            /** @description Environment variables, in addition to those that programs need: `PATH`, `HOME`, locale, proxies, and settings of package runners. A secret must be bound to the host `NAME.stdio`, where NAME is the name of the server. */
            env?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /**
             * @description `modern`: 2026-07-28 and nothing else. `legacy`: the revisions of 2025. `auto` (default): the first that the server supports, but a session of 2025 for a client of 2025 that can be asked during a call.
             * @enum {string}
             */
            era?: "auto" | "modern" | "legacy";
            /** @description Sent with each request to the server. Secrets are sent unchanged (so a token is stored as `Bearer <token>`) and must be bound to the host of the URL. */
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Shown by GET; ignored in PUT. */
            health?: unknown;
            /**
             * @description The processes of the command. `session` (default): one for each MCP session and each session of a chat, and one for the calls of each API key without a session. `key`: one for each API key. `shared`: one for all, for programs that remember nothing of a call.
             * @enum {string}
             */
            instances?: "session" | "key" | "shared";
            /** @description Sent to models together with the tools, if the server is `trusted`. */
            instructions?: string;
            /** @constant */
            kind: "mcp";
            /** @description If given, equals the name in the path. */
            name?: string;
            oauth?: components["schemas"]["ServerOAuth"];
            /** @description Shown by GET; ignored in PUT. */
            offers?: unknown;
            price?: components["schemas"]["ServerPrice"];
            /**
             * @description Added to the query of each request to the server. A secret is the value alone, and must be bound to the host of the URL. It replaces a parameter of the same name.
             * @example {
             *       "api_key": {
             *         "secret": "DOCS_KEY"
             *       }
             *     }
             */
            query?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Returned when the server requests roots. `client`: those of the calling MCP client. Default: none. */
            roots?: {
                name?: string;
                uri: string;
            }[] | "client";
            /** @description Allows the server to request completions from the model of the calling MCP client. Default: false. */
            sampling?: boolean;
            /** @description The time for one response in milliseconds; 60000 by default. Each sign of life restarts it: a progress notification, a log message, the state of a task. A call ends after 24 hours in any case. */
            timeoutMs?: number;
            /** @description Shown by GET; ignored in PUT, because the server lists its tools itself. */
            tools?: {
                [key: string]: unknown;
            }[];
            /**
             * @description `http`: Streamable HTTP. `sse`: the HTTP+SSE transport of 2024-11-05. `auto` (default): `http`, and `sse` for a server that has no endpoint for it.
             * @enum {string}
             */
            transport?: "auto" | "http" | "sse";
            /** @description Trusts the tool annotations: calls of read-only or idempotent tools may be retried, and only destructive tools require approval. Absent or false: every call of an MCP tool requires approval until an administrator accepts its annotations. */
            trusted?: boolean;
            /**
             * @description Changes of tools that are in force without a review. `compatible`: texts, and schemas that accept what callers sent before, with annotations that promise no less; new tools, unless they say that they are destructive. `accept`: all changes. `review`: none; each is held. Findings always take a review. Default: `accept` for what an administrator writes (the tools of a `static` server, the document and the selection of an `openapi` server); for what the server lists `compatible` if it is `trusted`, otherwise `review`.
             * @enum {string}
             */
            updates?: "review" | "compatible" | "accept";
            /**
             * @description Its MCP endpoint (Streamable HTTP). Required without `command`.
             * @example https://mcp.example.com/mcp
             */
            url?: string;
            /** @description Shown by GET; ignored in PUT. */
            warnings?: unknown;
        } | {
            /** @description Shown by GET; ignored in PUT. */
            authorization?: unknown;
            /** @description The base URL of the operations. Absent: the first of `servers` in the document. */
            baseUrl?: string;
            /** @description Shown by GET; ignored in PUT. */
            connection?: unknown;
            /** @description The document itself instead of `url`: as JSON, or as text. */
            document?: {
                [key: string]: unknown;
            } | string;
            /** @description Operations to skip, in the same form. */
            exclude?: string[];
            /** @description Sent with each request to the server. Secrets are sent unchanged (so a token is stored as `Bearer <token>`) and must be bound to the host of the URL. */
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Shown by GET; ignored in PUT. */
            health?: unknown;
            /** @description Operations to use: tool names, operation ids, tags as `tag:NAME`, or `METHOD /path` with `*`. Absent: all. */
            include?: string[];
            /** @description Sent to models together with the tools, if the server is `trusted`. */
            instructions?: string;
            /** @constant */
            kind: "openapi";
            /** @description If given, equals the name in the path. */
            name?: string;
            /** @description Shown by GET; ignored in PUT. */
            offers?: unknown;
            price?: components["schemas"]["ServerPrice"];
            /**
             * @description Added to the query of each request to the server. A secret is the value alone, and must be bound to the host of the URL. It replaces a parameter of the same name.
             * @example {
             *       "api_key": {
             *         "secret": "DOCS_KEY"
             *       }
             *     }
             */
            query?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description The time for one response in milliseconds; 60000 by default. Each sign of life restarts it: a progress notification, a log message, the state of a task. A call ends after 24 hours in any case. */
            timeoutMs?: number;
            /** @description Shown by GET; ignored in PUT, because the server lists its tools itself. */
            tools?: {
                [key: string]: unknown;
            }[];
            /** @description Trusts the tool annotations: calls of read-only or idempotent tools may be retried, and only destructive tools require approval. Absent or false: every call of an MCP tool requires approval until an administrator accepts its annotations. */
            trusted?: boolean;
            /**
             * @description Changes of tools that are in force without a review. `compatible`: texts, and schemas that accept what callers sent before, with annotations that promise no less; new tools, unless they say that they are destructive. `accept`: all changes. `review`: none; each is held. Findings always take a review. Default: `accept` for what an administrator writes (the tools of a `static` server, the document and the selection of an `openapi` server); for what the server lists `compatible` if it is `trusted`, otherwise `review`.
             * @enum {string}
             */
            updates?: "review" | "compatible" | "accept";
            /**
             * @description The URL of the OpenAPI document (JSON or YAML, 3.0 to 3.2, or Swagger 2.0).
             * @example https://api.example.com/openapi.json
             */
            url?: string;
            /** @description Shown by GET; ignored in PUT. */
            warnings?: unknown;
        };
        ServerConnection: {
            capabilities: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            era: "modern" | "legacy";
            instructions?: string;
            listMeta?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            protocolVersion: string;
            server?: {
                name: string;
                version: string;
            };
            /** @constant */
            transport?: "sse";
        };
        ServerHealth: {
            checkedAt: string | null;
            /** @description Consecutive failures. */
            failures: number;
            /** @description When its definitions were last read completely. */
            listedAt: string | null;
            /** @description For a server that is not `ok`: what went wrong, and what to do. */
            reason?: string;
            /**
             * @description A user has to sign in (OAuth): POST …/authorize.
             * @constant
             */
            signIn?: true;
            /**
             * @description `degraded`: its tools could be listed, but definitions of it are held, another list could not be read, or a call failed because of the server. `unauthorized`: it requires credentials that it did not receive. `unknown`: it has not been contacted yet.
             * @enum {string}
             */
            status: "ok" | "degraded" | "failing" | "unauthorized" | "unknown";
        };
        ServerOAuth: {
            /** @description Absent: the client registers itself (RFC 7591), if the server allows it. */
            clientId?: string;
            /** @description Must be bound to the host of the token endpoint. */
            clientSecret?: {
                secret: string;
            };
            /**
             * @description With `authorization_code` a user signs in once: POST …/authorize returns the URL to open.
             * @default authorization_code
             * @enum {string}
             */
            grant?: "client_credentials" | "authorization_code";
            /**
             * @description `workspace` (default): all calls use one sign-in. `user`: each user, or each key, connects an account (`/v1/me/connections`); POST …/authorize then signs in for the tool list only.
             * @enum {string}
             */
            per?: "workspace" | "user";
            scopes?: string[];
        };
        /**
         * @description USD for each call that is sent: of all tools of the server, or by own name, with `*` for the other tools. The `price` of a toolset entry takes precedence.
         * @example {
         *       "search": 0.01,
         *       "*": 0
         *     }
         */
        ServerPrice: components["schemas"]["ToolPrice"] | {
            [key: string]: components["schemas"]["ToolPrice"];
        };
        ServerProcess: {
            /** @description Requests in progress. */
            calls: number;
            /** @description The session or API key that it belongs to; null: all share it, or it is the spare one for the next session. */
            owner: string | null;
            server: string;
            /** Format: date-time */
            startedAt: string;
            /** @enum {string} */
            state: "starting" | "ready";
            /**
             * Format: date-time
             * @description It is ended some time after its last use.
             */
            usedAt: string;
        };
        ServerSummary: {
            /**
             * @description Instead of `url`: a program of this machine that speaks MCP on standard input and output. Only for a local Moniker.
             * @example npx
             */
            command?: string;
            /** @description Absent for a static server, which receives only calls. */
            health?: components["schemas"]["ServerHealth"];
            /** @description Number of held definitions, which cannot be called until they are accepted. */
            held: number;
            /** @enum {string} */
            kind: "static" | "mcp" | "openapi";
            name: string;
            /** @description Number of listed definitions, without rejected ones. */
            toolCount: number;
            /** Format: date-time */
            updatedAt: string;
            url?: string;
        };
        ServerTest: {
            /** @description The protocol of the connection; null: not connected, or not an MCP server. */
            connection: components["schemas"]["ServerConnection"] | null;
            durationMs: number;
            /** @description `unknown`: a static server only receives calls, so there is nothing to test. */
            health: {
                /** @description For a server that is not `ok`: what went wrong, and what to do. */
                reason?: string;
                /**
                 * @description A user has to sign in (OAuth): POST …/authorize.
                 * @constant
                 */
                signIn?: true;
                /**
                 * @description `degraded`: its tools could be listed, but definitions of it are held, another list could not be read, or a call failed because of the server. `unauthorized`: it requires credentials that it did not receive. `unknown`: it has not been contacted yet.
                 * @enum {string}
                 */
                status: "ok" | "degraded" | "failing" | "unauthorized" | "unknown";
            };
            /** @description Tools that would require a review. */
            held: number;
            ok: boolean;
            prompts: number;
            resources: number;
            tools: number;
            warnings: components["schemas"]["Warning"][];
        };
        ServerTool: {
            /** @description Default aliases from the listing: `aliases` of a static tool, `_meta.aliases` of an MCP tool. */
            aliases?: components["schemas"]["ToolsetAlias"][];
            annotations?: components["schemas"]["ToolAnnotations"];
            /** @description An administrator accepted the annotations of this definition. They also count if the server is not `trusted`. */
            annotationsAccepted: boolean;
            canonical: string;
            /** @description Decisions of administrators about definitions of this tool that can be undone, newest first. A rejection of another definition than the listed one is an earlier one. */
            decisions?: components["schemas"]["DefinitionDecision"][];
            description: string;
            findings?: components["schemas"]["Finding"][];
            held?: components["schemas"]["Hold"];
            inputSchema: {
                [key: string]: unknown;
            };
            name: string;
            outputSchema?: {
                [key: string]: unknown;
            };
            /** @description SHA-256 of the definition in force. A toolset entry can refer to the tool by it. */
            refId: string;
            /** @description For a missing tool: the canonical name of a new tool with the same definition. */
            renamedTo?: string;
            /** @enum {string} */
            state: "ready" | "held" | "rejected" | "missing" | "refused";
        };
        ServerView: {
            /** @description Arguments of the command. No shell interprets them. */
            args?: (string | {
                secret: string;
            } | components["schemas"]["HiddenValue"])[];
            /** @description For a server with `oauth`, or that offers a sign-in. */
            authorization?: components["schemas"]["AuthorizationStatus"];
            /** @description The base URL of the operations. Absent: the first of `servers` in the document. */
            baseUrl?: string;
            /**
             * @description Instead of `url`: a program of this machine that speaks MCP on standard input and output. Only for a local Moniker.
             * @example npx
             */
            command?: string;
            /** @description The last connection to an MCP server. */
            connection?: components["schemas"]["ServerConnection"];
            /** @description The working folder. Absent: the home folder of the user, or `home` of the data folder if that is not writable. */
            cwd?: string;
            /** @description The document itself instead of `url`: as JSON, or as text. */
            document?: {
                [key: string]: unknown;
            } | string;
            /** @description Environment variables, in addition to those that programs need: `PATH`, `HOME`, locale, proxies, and settings of package runners. A secret must be bound to the host `NAME.stdio`, where NAME is the name of the server. */
            env?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /**
             * @description `modern`: 2026-07-28 and nothing else. `legacy`: the revisions of 2025. `auto` (default): the first that the server supports, but a session of 2025 for a client of 2025 that can be asked during a call.
             * @enum {string}
             */
            era?: "auto" | "modern" | "legacy";
            /** @description Operations to skip, in the same form. */
            exclude?: string[];
            /** @description Sent with each request to the server. Secrets are sent unchanged (so a token is stored as `Bearer <token>`) and must be bound to the host of the URL. */
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Absent for a static server, which receives only calls. */
            health?: components["schemas"]["ServerHealth"];
            /** @description Operations to use: tool names, operation ids, tags as `tag:NAME`, or `METHOD /path` with `*`. Absent: all. */
            include?: string[];
            /**
             * @description The processes of the command. `session` (default): one for each MCP session and each session of a chat, and one for the calls of each API key without a session. `key`: one for each API key. `shared`: one for all, for programs that remember nothing of a call.
             * @enum {string}
             */
            instances?: "session" | "key" | "shared";
            /** @description Sent to models together with the tools, if the server is `trusted`. */
            instructions?: string;
            /** @enum {string} */
            kind: "static" | "mcp" | "openapi";
            name: string;
            oauth?: components["schemas"]["ServerOAuth"];
            /** @description Number of prompts, resources and templates of an MCP server, without held ones. */
            offers?: {
                /** @description Number of those that are not offered until they are accepted. */
                held: number;
                prompts: number;
                resources: number;
                resourceTemplates: number;
            };
            price?: components["schemas"]["ServerPrice"];
            /**
             * @description Added to the query of each request to the server. A secret is the value alone, and must be bound to the host of the URL. It replaces a parameter of the same name.
             * @example {
             *       "api_key": {
             *         "secret": "DOCS_KEY"
             *       }
             *     }
             */
            query?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Returned when the server requests roots. `client`: those of the calling MCP client. Default: none. */
            roots?: {
                name?: string;
                uri: string;
            }[] | "client";
            /** @description Allows the server to request completions from the model of the calling MCP client. Default: false. */
            sampling?: boolean;
            /** @description The time for one response in milliseconds; 60000 by default. Each sign of life restarts it: a progress notification, a log message, the state of a task. A call ends after 24 hours in any case. */
            timeoutMs?: number;
            tools: components["schemas"]["ServerTool"][];
            /**
             * @description `http`: Streamable HTTP. `sse`: the HTTP+SSE transport of 2024-11-05. `auto` (default): `http`, and `sse` for a server that has no endpoint for it.
             * @enum {string}
             */
            transport?: "auto" | "http" | "sse";
            /** @description Trusts the tool annotations: calls of read-only or idempotent tools may be retried, and only destructive tools require approval. Absent or false: every call of an MCP tool requires approval until an administrator accepts its annotations. */
            trusted?: boolean;
            /**
             * @description Changes of tools that are in force without a review. `compatible`: texts, and schemas that accept what callers sent before, with annotations that promise no less; new tools, unless they say that they are destructive. `accept`: all changes. `review`: none; each is held. Findings always take a review. Default: `accept` for what an administrator writes (the tools of a `static` server, the document and the selection of an `openapi` server); for what the server lists `compatible` if it is `trusted`, otherwise `review`.
             * @enum {string}
             */
            updates?: "review" | "compatible" | "accept";
            url?: string;
            /** @description What its last listing reported. Absent: nothing. */
            warnings?: components["schemas"]["Warning"][];
        };
        Session: {
            agent?: string;
            /** Format: date-time */
            createdAt: string;
            /** @description For a fork: the session and turn after which it continues. */
            from?: components["schemas"]["ForkPoint"];
            id: string;
            /**
             * Format: date-time
             * @description When a turn last started or ended.
             */
            lastActivityAt: string;
            /** @description Number of the newest event: follow the log from here with `?after=`. */
            lastEvent: number;
            model?: string;
            queued: number;
            /** @description What approvals allow in this session from then on. Absent: nothing. */
            remembered?: components["schemas"]["PolicyRule"][];
            /** @description The first line of the first input; null before it. */
            title: string | null;
            toolset: string | null;
            turn: {
                id: string;
                reason: string | null;
                status: string;
            } | null;
            /** @description Of all ended turns. */
            usage: components["schemas"]["Usage"];
        };
        /** @description The `data` of a server-sent event. Its `event:` is the `type`, its `id:` the `id`. */
        SessionEvent: {
            /** @description Milliseconds since the epoch. */
            at: number;
            gathered?: {
                canonical: string;
                name: string;
            }[];
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            messages: ({
                parts: components["schemas"]["TextPart"][];
                /** @constant */
                role: "system";
            } | {
                parts: (components["schemas"]["TextPart"] | components["schemas"]["ImagePart"] | components["schemas"]["FilePart"])[];
                /** @constant */
                role: "user";
            } | {
                model?: string;
                parts: (components["schemas"]["TextPart"] | components["schemas"]["ReasoningPart"] | components["schemas"]["ToolCallPart"] | {
                    data: unknown;
                    provider: string;
                    /** @constant */
                    type: "native";
                })[];
                /** @constant */
                role: "assistant";
            } | {
                parts: components["schemas"]["ToolResultPart"][];
                /** @constant */
                role: "tool";
            })[];
            /** @constant */
            type: "history";
        } | {
            agent?: string;
            /** @description Milliseconds since the epoch. */
            at: number;
            edition?: {
                hash: string;
                revision: number;
                toolset: string;
                version: number;
            };
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            input: (components["schemas"]["TextPart"] | components["schemas"]["ImagePart"] | components["schemas"]["FilePart"])[];
            model: string;
            turn: string;
            /** @constant */
            type: "turn-start";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            step: number;
            turn: string;
            /** @constant */
            type: "step-start";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            step: number;
            text: string;
            turn: string;
            /** @constant */
            type: "text-delta";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            step: number;
            text: string;
            turn: string;
            /** @constant */
            type: "reasoning-delta";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Base64. */
            data: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            mediaType: string;
            step: number;
            turn: string;
            /** @constant */
            type: "image";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            citations: components["schemas"]["Citation"][];
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            step: number;
            turn: string;
            /** @constant */
            type: "citations";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            canonical: string | null;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description The name that the model used. */
            name: string;
            nativeId?: string;
            step: number;
            turn: string;
            /** @constant */
            type: "tool-input-start";
            via: components["schemas"]["Via"] | null;
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            delta: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            step: number;
            turn: string;
            /** @constant */
            type: "tool-input-delta";
        } | {
            /** @description null: the text was cut off or cannot be repaired; `raw` has it. */
            arguments: {
                [key: string]: unknown;
            } | null;
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            closersOnly?: boolean;
            /** @enum {string} */
            fault?: "truncated" | "invalid_json";
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            raw?: string;
            /**
             * @description The call stood in the text of a reply that could have native calls.
             * @constant
             */
            recovered?: true;
            repaired: boolean;
            step: number;
            turn: string;
            /** @constant */
            type: "tool-input-end";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            attempt: number;
            callId: string;
            /** @description USD. Absent: the tool has no price, or was not called. */
            cost?: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            step: number;
            turn: string;
            /** @constant */
            type: "tool-start";
        } | {
            arguments: {
                [key: string]: unknown;
            };
            ask: components["schemas"]["AskKind"];
            /** @description Milliseconds since the epoch. */
            at: number;
            binding: string[];
            callId: string;
            canonical: string;
            effectCount: number;
            effects: components["schemas"]["AskedEffect"][];
            /** @description Wire name of the toolset entry. */
            entry: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description Number of further questions of the same batch, which follow. */
            more?: number;
            name: string;
            /** @description For a nested call: the id of the outer call. */
            parent?: string;
            reason: string;
            /** @description Number of the question of this call, from 1. */
            round: number;
            /** @constant */
            several?: true;
            step: number;
            target: string | null;
            turn: string;
            /** @constant */
            type: "approval-required";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Id of the key, `link`, or `clock` for `expire`. */
            by: string;
            callId: string;
            /** @enum {string} */
            decision: "approve" | "deny" | "expire";
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description For a nested call: the id of the outer call. */
            parent?: string;
            /** @description Why, in your words. The event and the audit row of the decision have it, and after a denial the model reads it. The redaction rules of the workspace apply. */
            reason?: string;
            /**
             * @description The same is allowed in this session from then on.
             * @constant
             */
            remember?: "session";
            step: number;
            turn: string;
            /** @constant */
            type: "approval-decided";
        } | {
            arguments: {
                [key: string]: unknown;
            };
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            canonical: string | null;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description The name that the model used. */
            name: string;
            /** @description For a nested call: the id of the outer call. */
            parent: string;
            step: number;
            turn: string;
            /** @constant */
            type: "inner-call";
            via: components["schemas"]["Via"] | null;
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            canonical: string | null;
            code?: components["schemas"]["ToolResultCode"];
            content: components["schemas"]["ContentBlock"][];
            /** @description USD. Absent: the tool has no price, or was not called. */
            cost?: number;
            durationMs: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            isError: boolean;
            /** @description For a nested call: the id of the outer call. */
            parent: string;
            step: number;
            turn: string;
            /** @constant */
            type: "inner-result";
        } | {
            /** @description The arguments that the guard replaced those of the call with. */
            arguments?: {
                [key: string]: unknown;
            };
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description Hash of the call that the guard was asked about. */
            of: string;
            /** @description For a nested call: the id of the outer call. */
            parent?: string;
            reason?: string;
            /**
             * @description The call did not run.
             * @constant
             */
            refused?: true;
            /**
             * @description Before the call, or about its result. A result that the guard allows has no event.
             * @enum {string}
             */
            stage: "before" | "after";
            step: number;
            turn: string;
            /** @constant */
            type: "guard-decided";
            verdict: components["schemas"]["GuardVerdict"];
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            message?: string;
            progress: number;
            step: number;
            total?: number;
            turn: string;
            /** @constant */
            type: "tool-progress";
        } | {
            arguments: {
                [key: string]: unknown;
            };
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            canonical: string;
            entry: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description Number of further questions of the same batch, which follow. */
            more?: number;
            name: string;
            /** @description For a nested call: the id of the outer call. */
            parent?: string;
            requests: {
                [key: string]: {
                    method: string;
                    params: {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Number of the question of this call, from 1. */
            round: number;
            server: string;
            step: number;
            turn: string;
            /** @constant */
            type: "input-required";
        } | {
            actions: {
                [key: string]: components["schemas"]["ElicitationAction"];
            };
            /** @description Milliseconds since the epoch. */
            at: number;
            by: string;
            callId: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description For a nested call: the id of the outer call. */
            parent?: string;
            /** @description Number of the question of this call, from 1. */
            round: number;
            step: number;
            turn: string;
            /** @constant */
            type: "input-given";
        } | {
            arguments: {
                [key: string]: unknown;
            };
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            canonical: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description Number of further questions of the same batch, which follow. */
            more?: number;
            name: string;
            /** @description For a nested call: the id of the outer call. */
            parent?: string;
            step: number;
            turn: string;
            /** @constant */
            type: "client-tool-required";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            callId: string;
            canonical: string | null;
            code?: components["schemas"]["ToolResultCode"];
            content: components["schemas"]["ContentBlock"][];
            /** @description USD. Absent: the tool has no price, or was not called. */
            cost?: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            isError: boolean;
            issues?: {
                message: string;
                path: string;
            }[];
            /** @description The name that the model used. */
            name: string;
            repaired?: components["schemas"]["Repair"][];
            step: number;
            structuredContent?: unknown;
            turn: string;
            /** @constant */
            type: "tool-result";
            via: components["schemas"]["Via"] | null;
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description What the request asked for and the model was not sent, in the terms of the request. */
            items: {
                name: string;
                reason?: string;
            }[];
            model: string;
            step: number;
            turn: string;
            /** @constant */
            type: "dropped";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description Its data is not sent to readers. */
            provider: string;
            step: number;
            turn: string;
            /** @constant */
            type: "native";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            model?: string;
            step: number;
            turn: string;
            /** @constant */
            type: "usage";
            usage: components["schemas"]["Usage"];
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /**
             * @description The calls of this step run one after the other.
             * @constant
             */
            inOrder?: true;
            model: string;
            reason: string;
            step: number;
            turn: string;
            /** @constant */
            type: "step-end";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description The code of its problem. Absent: the service stopped during the reply. */
            code?: string;
            /** @description Discard the events of this step from this number on. */
            from: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @description The model whose reply failed. */
            model?: string;
            step: number;
            turn: string;
            /** @constant */
            type: "step-restart";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            attempt: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            turn: string;
            /** @constant */
            type: "turn-resume";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            input: (components["schemas"]["TextPart"] | components["schemas"]["ImagePart"] | components["schemas"]["FilePart"])[];
            turn: string;
            /** @constant */
            type: "turn-input";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            summary: string;
            through: string;
            turn: string;
            /** @constant */
            type: "compaction";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            canonical: string;
            category: string;
            href?: string;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            label: string;
            relevance: number;
            /** @description One sentence for the person. */
            text: string;
            turn: string;
            /** @constant */
            type: "proposal";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            model?: string;
            problem: components["schemas"]["Problem"];
            turn: string;
            /** @constant */
            type: "error";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @enum {string} */
            reason: "stop" | "length" | "content_filter" | "max_steps" | "max_tokens" | "max_cost" | "timeout" | "cancelled" | "upstream_error" | "recovery_limit" | "internal";
            /** @enum {string} */
            status: "completed" | "failed" | "cancelled" | "interrupted";
            turn: string;
            /** @constant */
            type: "turn-end";
            usage: components["schemas"]["Usage"];
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            number: number;
            /** @enum {string} */
            status: "waiting" | "running" | "same" | "different" | "ended" | "failed" | "unreadable" | "skipped";
            /** @constant */
            type: "replay-case";
        } | {
            /** @description Milliseconds since the epoch. */
            at: number;
            /** @description Number of the event in its session, from 1, without gaps. */
            id: number;
            /** @enum {string} */
            status: "running" | "completed" | "cancelled" | "stopped" | "failed";
            /** @constant */
            type: "replay-end";
        };
        SessionPrompt: {
            arguments: {
                description?: string;
                name: string;
                required: boolean;
            }[];
            description?: string;
            name: string;
            server: string;
            title?: string;
        };
        SessionPrompts: {
            items: components["schemas"]["SessionPrompt"][];
        };
        /**
         * @example {
         *       "model": "rehearsal/default",
         *       "toolset": "demo"
         *     }
         */
        SessionRequest: {
            agent?: string;
            /** @description Fork: continue after a turn of another session, with its agent or model, conversation, tool calls and current files. */
            from?: components["schemas"]["ForkPoint"];
            /** @description With `model`: the system prompt. */
            instructions?: string;
            model?: components["schemas"]["ModelRef"];
            /** @description Tools that the caller runs itself, for turns without `tools`. */
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["OpenAiTool"])[];
            /** @description With `model`: the toolset whose tools run inside Moniker. */
            toolset?: components["schemas"]["ToolsetReference"];
        };
        SessionRow: {
            agent?: string;
            /** Format: date-time */
            createdAt: string;
            id: string;
            /**
             * Format: date-time
             * @description When a turn last started or ended.
             */
            lastActivityAt: string;
            model?: string;
            /**
             * @description Of the newest turn. Up to a few seconds old; read the session for its current state.
             * @enum {string}
             */
            status: "idle" | "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
            /** @description The first line of the first input; null before it. */
            title: string | null;
            toolset?: string;
            /** @description The trigger that started the session. Absent: it belongs to a key. */
            trigger?: {
                /** @enum {string} */
                kind: "webhook" | "schedule";
                name: string;
            };
            /** @description Of all ended turns. */
            usage: components["schemas"]["Usage"];
        };
        /**
         * @example {
         *       "authorizationUrl": "https://login.example.com/authorize?…",
         *       "expiresAt": "2026-01-01T08:10:00.000Z"
         *     }
         */
        SignIn: {
            /**
             * Format: uri
             * @description URL that the user opens in a browser. It comes from the authorization server.
             */
            authorizationUrl: string;
            /**
             * Format: date-time
             * @description The user must complete the sign-in by then.
             */
            expiresAt: string;
        };
        SignInForm: {
            key: string;
            to?: string;
        };
        /**
         * @example {
         *       "person": null,
         *       "providers": [
         *         {
         *           "id": "google",
         *           "name": "Google"
         *         }
         *       ]
         *     }
         */
        SignInState: {
            /** @description Who is signed in with this browser. null: not signed in. */
            person: {
                /** Format: date-time */
                expiresAt: string;
                isRoot: boolean;
                user: components["schemas"]["User"];
                /** @description Where the person is a member. Requests choose one with the header `x-moniker-workspace`. Empty for the root key. */
                workspaces: {
                    role: components["schemas"]["Role"];
                    workspace: string;
                }[];
            } | null;
            /** @description Identity providers: `/sign-in/{id}` signs in with one of them. */
            providers: {
                id: string;
                name: string;
            }[];
        };
        /**
         * @example {
         *       "content": "---\nname: release-notes\ndescription: Writes release notes. Use when a version is to be announced.\nallowed-tools: Bash(git:*)\n---\nUse the `bash` tool to run scripts/changes.sh, then sum up what it prints.\n",
         *       "resources": {
         *         "scripts/changes.sh": "git log --oneline\n"
         *       }
         *     }
         */
        Skill: {
            /**
             * @description Patterns are stored, but grant no permissions.
             * @example [
             *       "Bash(git:*)"
             *     ]
             */
            allowedTools?: string[];
            compatibility?: string;
            /** @description The text of SKILL.md, at most 102400 bytes. */
            content: string;
            /** @description Read from `content`, like all frontmatter fields; ignored on writes. */
            description?: string;
            license?: string;
            metadata?: {
                [key: string]: string;
            };
            /** @description Optional. Must equal the name in the path. */
            name?: string;
            requires?: string[];
            /**
             * @description Resource files by path: text, `{"text"}` or `{"base64"}`. At most 200, 102400 bytes each, 512000 in total with SKILL.md.
             * @default {}
             */
            resources?: {
                [key: string]: string | {
                    /** @description Size in bytes; ignored on writes. */
                    bytes?: number;
                    text: string;
                } | {
                    /** Format: base64 */
                    base64: string;
                    /** @description Size in bytes; ignored on writes. */
                    bytes?: number;
                };
            };
        };
        SkillSummary: {
            /**
             * @description Patterns are stored, but grant no permissions.
             * @example [
             *       "Bash(git:*)"
             *     ]
             */
            allowedTools?: string[];
            compatibility?: string;
            description: string;
            license?: string;
            metadata?: {
                [key: string]: string;
            };
            name: string;
            requires?: string[];
            resources: {
                bytes: number;
                path: string;
            }[];
            version: number;
        };
        /**
         * @description The tool runs in place of the web search that a client declares, for models whose provider has none. One entry of a toolset; the tool takes a `query` and requires nothing else.
         * @enum {string}
         */
        StandsFor: "web_search";
        /**
         * @example {
         *       "url": "https://example.com/moniker",
         *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
         *     }
         */
        Subscription: {
            /** @description Only turns of these agents, and no messages about other things. Absent: all. */
            agents?: string[];
            description?: string;
            /** @description Absent: all events. */
            events?: components["schemas"]["TriggerEvent"][];
            /** @description If given, equals the name in the path. */
            name?: string;
            /** @description No new messages are sent. */
            paused?: boolean;
            /** @description Write-only. Signs the messages; `whsec_` and base64. Required at creation; if absent later, the current one stays. */
            secret?: string;
            /** Format: uri */
            url: string;
        };
        /**
         * @example {
         *       "url": "https://example.com/moniker",
         *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
         *     }
         */
        SubscriptionToWrite: {
            /** @description Only turns of these agents, and no messages about other things. Absent: all. */
            agents?: string[];
            description?: string;
            /** @description Absent: all events. */
            events?: components["schemas"]["TriggerEvent"][];
            /** @description Shown by GET; ignored here. */
            readonly hasSecret?: boolean;
            /** @description If given, equals the name in the path. */
            name?: string;
            /** @description No new messages are sent. */
            paused?: boolean;
            /** @description Write-only. Signs the messages; `whsec_` and base64. Required at creation; if absent later, the current one stays. */
            secret?: string;
            /** Format: uri */
            url: string;
            /** @description Problems with the document in the current workspace. Absent: none. */
            readonly warnings?: components["schemas"]["Warning"][];
        };
        SubscriptionView: {
            /** @description Only turns of these agents, and no messages about other things. Absent: all. */
            agents?: string[];
            description?: string;
            /** @description Absent: all events. */
            events?: components["schemas"]["TriggerEvent"][];
            hasSecret: boolean;
            name: string;
            /** @description No new messages are sent. */
            paused?: boolean;
            /** Format: uri */
            url: string;
        };
        /**
         * @example {
         *       "select": {
         *         "agent": "support",
         *         "days": 30
         *       },
         *       "rules": [
         *         {
         *           "calls": "same"
         *         }
         *       ]
         *     }
         */
        Suite: {
            /** @description The cases themselves, in place of `select`. */
            cases?: components["schemas"]["SuiteCase"][];
            description?: string;
            /** @description Must equal the name in the path, if given. */
            name?: string;
            /**
             * @description ReplayFacts that must hold for every case.
             * @default []
             */
            rules?: components["schemas"]["ReplayRule"][];
            /** @description Selects from the request log when a replay starts. */
            select?: components["schemas"]["SuiteSelection"];
        };
        /**
         * @example {
         *       "session": "0123…",
         *       "turn": "turn_1"
         *     }
         */
        SuiteCase: {
            /** @description In addition to the rules of the suite. */
            rules?: components["schemas"]["ReplayRule"][];
            session: string;
            /** @description Absent: all turns of the session, the oldest first. */
            turn?: string;
        } | {
            /** @description Id of a row of `GET /v1/requests`, or an `x-request-id`. */
            request: string;
            /** @description In addition to the rules of the suite. */
            rules?: components["schemas"]["ReplayRule"][];
        };
        /**
         * @example {
         *       "agent": "support",
         *       "days": 30,
         *       "limit": 100
         *     }
         */
        SuiteSelection: {
            agent?: string;
            /** @description The last days, including today (UTC). Default 30. */
            days?: number;
            /**
             * Format: date
             * @description First day (UTC), in place of `days`.
             */
            from?: string;
            /** @description Id of the key. */
            key?: string;
            /**
             * @description `turn` (default): turns of sessions. `request`: requests to models without a session, which need logged bodies.
             * @enum {string}
             */
            kind?: "turn" | "request";
            /** @description Most cases, the newest first. Default 100. */
            limit?: number;
            /** @description `<provider>/<model>`, as requested. */
            model?: string;
            /**
             * @description How the work ended. Absent: in any way; work that has not ended is never selected.
             * @enum {string}
             */
            status?: "completed" | "failed" | "cancelled" | "interrupted";
            /**
             * Format: date
             * @description Last day (UTC), inclusive. Default: today.
             */
            to?: string;
            /**
             * @description Only turns that called one of these tools: canonical names, where `*` matches any text.
             * @example [
             *       "github.*"
             *     ]
             */
            tools?: string[];
            toolset?: string;
        };
        SuiteView: {
            /** @description The cases themselves, in place of `select`. */
            cases?: components["schemas"]["SuiteCase"][];
            description?: string;
            name: string;
            /**
             * @description ReplayFacts that must hold for every case.
             * @default []
             */
            rules?: components["schemas"]["ReplayRule"][];
            /** @description Selects from the request log when a replay starts. */
            select?: components["schemas"]["SuiteSelection"];
        };
        TextPart: {
            text: string;
            /** @constant */
            type: "text";
        };
        /**
         * @example {
         *       "input_tokens": 14,
         *       "estimated": true
         *     }
         */
        TokenCount: {
            /**
             * @description An extension of Anthropic’s API: true if counted by characters, without server tools.
             * @constant
             */
            estimated?: true;
            input_tokens: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "canonical": "builtin.bash",
         *       "server": "builtin",
         *       "name": "bash",
         *       "kind": "builtin",
         *       "description": "Runs a shell script.",
         *       "inputSchema": {
         *         "type": "object",
         *         "properties": {
         *           "command": {
         *             "type": "string"
         *           }
         *         },
         *         "required": [
         *           "command"
         *         ]
         *       },
         *       "aliases": [
         *         "shell"
         *       ],
         *       "refId": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "state": "ready"
         *     }
         */
        Tool: {
            /** @description Default aliases. */
            aliases: components["schemas"]["ToolsetAlias"][];
            annotations?: components["schemas"]["ToolAnnotations"];
            /** @description For a tool of an MCP server: whether an administrator accepted its annotations. They also apply if the server is `trusted`. */
            annotationsAccepted?: boolean;
            canonical: string;
            description: string;
            held?: components["schemas"]["Hold"];
            inputSchema: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            kind: "builtin" | "local" | "mcp" | "openapi" | "static" | "made" | "client" | "ui";
            /** @description For a single made tool: its document. */
            made?: components["schemas"]["MadeToolView"];
            name: string;
            outputSchema?: {
                [key: string]: unknown;
            };
            /** @description SHA-256 of the accepted definition. A toolset entry may name the tool by it. */
            refId: string;
            /** @description For a missing tool: the tool that its server probably lists instead. */
            renamedTo?: string;
            server: string;
            /**
             * @description `held`: cannot be called until its definition is accepted. `missing`: its server no longer lists it.
             * @enum {string}
             */
            state: "ready" | "held" | "missing";
            /** @description For a UI tool: what the user is shown. */
            ui?: components["schemas"]["UiTool"];
            /**
             * @description For a made tool. `private`: only the key that created it can see and call it.
             * @enum {string}
             */
            visibility?: "shared" | "private";
        };
        /**
         * @example {
         *       "aliases": [
         *         "shell",
         *         {
         *           "name": "terminal",
         *           "mode": "hidden"
         *         }
         *       ]
         *     }
         */
        ToolAliases: {
            /** @description Empty: none. */
            aliases: components["schemas"]["ToolsetAlias"][];
        };
        ToolAnnotations: {
            destructiveHint?: boolean;
            idempotentHint?: boolean;
            openWorldHint?: boolean;
            readOnlyHint?: boolean;
            title?: string;
        };
        ToolCallPart: {
            arguments: {
                [key: string]: unknown;
            } | null;
            callId: string;
            canonical: string | null;
            nativeId?: string;
            raw?: string;
            recovered?: boolean;
            repaired?: boolean;
            requested: string;
            /** @constant */
            type: "tool-call";
            via: components["schemas"]["Via"] | null;
        };
        /**
         * @description USD for each call that is sent, also if it fails.
         * @example 0.01
         */
        ToolPrice: number;
        /** @enum {string} */
        ToolResultCode: "unknown_tool" | "ambiguous_tool" | "not_allowed" | "tool_held" | "invalid_json" | "truncated" | "invalid_arguments" | "approval_required" | "connection_required" | "denied" | "guard_denied" | "result_withheld" | "timeout" | "tool_error" | "aborted" | "outcome_unknown" | "limit_reached";
        ToolResultPart: {
            callId: string;
            canonical: string | null;
            code?: components["schemas"]["ToolResultCode"];
            content: components["schemas"]["ContentBlock"][];
            isError: boolean;
            requested: string;
            /** @description The data of a result without text. */
            structuredContent?: unknown;
            /** @constant */
            type: "tool-result";
        };
        /**
         * @example {
         *       "callId": "call_1",
         *       "content": "12 °C, rain"
         *     }
         */
        ToolResultRequest: {
            callId: string;
            content: string | components["schemas"]["ContentBlock"][];
            /** @default false */
            isError?: boolean;
        };
        /**
         * @example {
         *       "announce": "prompt",
         *       "tools": [
         *         {
         *           "tool": "builtin.bash",
         *           "name": "shell",
         *           "aliases": [
         *             "bash",
         *             {
         *               "name": "terminal",
         *               "mode": "hidden"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        Toolset: {
            /** @default prompt */
            announce?: components["schemas"]["Announce"];
            description?: string;
            /**
             * @description Suggestions that are not to be made again (`GET …/suggestions`): a name, or `<tool>#<argument>`. They change nothing else.
             * @example [
             *       "Glob",
             *       "fs.read_file#file_path"
             *     ]
             */
            dismissed?: string[];
            mcpTools?: components["schemas"]["McpTools"];
            /** @description Must equal the name in the path, if given. */
            name?: string;
            /**
             * @description Further names of the listed tools, as hidden aliases: name → any name of a tool in this toolset.
             * @example {
             *       "flashcards": "create_flashcard",
             *       "websearch": "search"
             *     }
             */
            nameMap?: {
                [key: string]: string;
            };
            names?: components["schemas"]["NamesMode"];
            /** @description With more tools than this, the model gets `find_tools` and the definitions that it found. Default 64. */
            onDemandAbove?: number;
            /** @description The prompts of MCP servers for MCP clients of this toolset. Absent: those that the trusted servers of its tools list. Empty: none. */
            prompts?: components["schemas"]["PromptEntry"][];
            /** @description The resources of MCP servers that MCP clients of this toolset can read. Absent: those that the trusted servers of its tools list. Empty: none. */
            resources?: components["schemas"]["ResourceEntry"][];
            /**
             * @description Canonical names of tools that no version of this toolset may call any more, not even in running turns and in sessions with an earlier version. Absent: those of the stored document. A list replaces them, so that `[]` gives all of them back.
             * @example [
             *       "github.delete_repo"
             *     ]
             */
            revoked?: string[];
            tools: components["schemas"]["ToolsetEntry"][];
        };
        ToolsetAlias: string | {
            /** @default announced */
            mode?: components["schemas"]["AliasMode"];
            /**
             * @description `^[a-z][a-z0-9_-]{1,63}$`
             * @example shell
             */
            name: string;
            note?: string;
        };
        /**
         * @example {
         *       "announce": "prompt",
         *       "tools": [
         *         {
         *           "tool": "builtin.bash",
         *           "name": "shell",
         *           "aliases": [
         *             "bash",
         *             {
         *               "name": "terminal",
         *               "mode": "hidden"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        ToolsetBody: {
            announce?: components["schemas"]["Announce"];
            description?: string;
            /**
             * @description Suggestions that are not to be made again (`GET …/suggestions`): a name, or `<tool>#<argument>`. They change nothing else.
             * @example [
             *       "Glob",
             *       "fs.read_file#file_path"
             *     ]
             */
            dismissed?: string[];
            /** @description Copies this toolset, or this version of it, instead of listing `tools`. The other members replace those of the copy. Tools that are revoked there or here are left out, with a warning. */
            from?: components["schemas"]["ToolsetReference"];
            mcpTools?: components["schemas"]["McpTools"];
            /** @description Must equal the name in the path, if given. */
            name?: string;
            /**
             * @description Further names of the listed tools, as hidden aliases: name → any name of a tool in this toolset.
             * @example {
             *       "flashcards": "create_flashcard",
             *       "websearch": "search"
             *     }
             */
            nameMap?: {
                [key: string]: string;
            };
            names?: components["schemas"]["NamesMode"];
            /** @description With more tools than this, the model gets `find_tools` and the definitions that it found. Default 64. */
            onDemandAbove?: number;
            /** @description The prompts of MCP servers for MCP clients of this toolset. Absent: those that the trusted servers of its tools list. Empty: none. */
            prompts?: components["schemas"]["PromptEntry"][];
            /** @description The resources of MCP servers that MCP clients of this toolset can read. Absent: those that the trusted servers of its tools list. Empty: none. */
            resources?: components["schemas"]["ResourceEntry"][];
            /** @description `true`: the tools that this write removes are revoked: they are added to `revoked`. Not stored. */
            revoke?: boolean;
            /**
             * @description Canonical names of tools that no version of this toolset may call any more, not even in running turns and in sessions with an earlier version. Absent: those of the stored document. A list replaces them, so that `[]` gives all of them back.
             * @example [
             *       "github.delete_repo"
             *     ]
             */
            revoked?: string[];
            tools?: components["schemas"]["ToolsetEntry"][];
        };
        /**
         * @example {
         *       "toolset": "demo",
         *       "from": 1,
         *       "to": 2,
         *       "fields": [
         *         {
         *           "path": "/announce",
         *           "from": "prompt",
         *           "to": "none"
         *         }
         *       ],
         *       "changes": [
         *         {
         *           "change": "added",
         *           "canonical": "builtin.read_file",
         *           "wireName": "read_file",
         *           "fields": []
         *         },
         *         {
         *           "change": "changed",
         *           "canonical": "builtin.bash",
         *           "wireName": "shell",
         *           "fields": [
         *             {
         *               "path": "/wireName",
         *               "from": "terminalRun",
         *               "to": "shell"
         *             }
         *           ]
         *         }
         *       ],
         *       "more": 0
         *     }
         */
        ToolsetDiff: {
            /** @description Changed entries, in the order of the newer version. `fields` are JSON Pointers into the compiled entry: `/wireName`, `/aliases/{name}`, `/description`, `/inputSchema/…`, `/arguments/…`, `/approval`, `/state`, `/refId`, and `/position` for a moved entry. */
            changes: {
                canonical: string;
                /** @enum {string} */
                change: "added" | "removed" | "changed";
                fields: components["schemas"]["DefinitionChange"][];
                wireName: string;
            }[];
            /** @description Changed fields of the toolset itself: `/announce`, `/description`, `/onDemandAbove`, `/mcpTools`, `/revoked`, `/instructions/{server}`. */
            fields: components["schemas"]["DefinitionChange"][];
            /** @description null: no earlier version exists. */
            from: number | null;
            /** @description Number of further changed fields that are not listed. */
            more: number;
            to: number;
            toolset: string;
        };
        ToolsetEntry: {
            /** @description Absent: the tool’s default aliases, none of which becomes the wire name. Empty: none. */
            aliases?: components["schemas"]["ToolsetAlias"][];
            /** @description Sends the definition from the first step on, even if other tools are loaded on demand. */
            alwaysOffered?: boolean;
            approval?: components["schemas"]["ApprovalRule"];
            arguments?: components["schemas"]["EntryArguments"];
            /** @description Replaces the tool’s own description. */
            description?: string;
            /** @description With a wildcard: the tools to leave out, by own or canonical name, also as `<beginning>*`. */
            except?: string[];
            /**
             * @description Wire name, which the model sees. Default: the first announced alias of the entry, else the tool’s own name.
             * @example shell
             */
            name?: string;
            /** @description Added below the description. */
            notes?: {
                name: string;
                note: string;
            }[];
            price?: components["schemas"]["ToolPrice"];
            /** @description Names the tool by the hash of its definition. Resolved when the toolset is written; the stored document contains `tool`. */
            refId?: string;
            result?: components["schemas"]["EntryResult"];
            standsFor?: components["schemas"]["StandsFor"];
            /**
             * @description Canonical name. Optional if `refId` is given. `<server>.*` (or `<server>.<beginning>*`) is replaced by one entry for each tool that the server has when the toolset is written.
             * @example builtin.bash
             */
            tool?: string;
        };
        ToolsetImpact: {
            /** @description Arguments of the calls of turns, by the logs of their sessions; of other calls only hashes are kept. null: with `cursor`. */
            arguments: {
                /** @description Recorded calls that the stored version accepts. */
                judged: number;
                /** @description By tool and reason, the most frequent first, at most 100. */
                refused: {
                    calls: number;
                    /** @description Why the draft refuses them. */
                    issues: {
                        message: string;
                        path: string;
                    }[];
                    /** @description Aliases of arguments with which the draft accepts the calls. Empty: no alias helps. */
                    mends: {
                        alias: string;
                        argument: string;
                        tool: string;
                    }[];
                    /** @description At most 20. */
                    sessions: string[];
                    tool: string;
                }[];
                /** @description Those that the draft refuses. */
                refusedCalls: number;
                /** @description The turns whose calls were read, the newest first. */
                turns: {
                    /** @description Not read: turns of more than 50 sessions, of a session that was deleted, or of another key. */
                    left: number;
                    /** @description Older turns were not looked for. */
                    more: boolean;
                    read: number;
                };
            } | null;
            /** @description The most called first. */
            changed: {
                /** @description Who called it in turns, at most 20. */
                agents: string[];
                calls: number;
                /**
                 * @description `gone`: no name in the draft. `moved`: the name of another tool there, or of an entry with other arguments. `ambiguous`: the name of several. `unusable`: its tool is held or missing. `found`: a name in the draft, and none in the stored version.
                 * @enum {string}
                 */
                change: "gone" | "moved" | "ambiguous" | "unusable" | "found";
                failures: number;
                /** @description Ids of the keys, at most 20. */
                keys: string[];
                lastDay: string | null;
                /** @description The tools that it leads to in the draft. */
                now: string[];
                /** @description At most so many of `calls` were of other names. */
                overcount?: number;
                /** @description How many such calls were found in the turns that were read (`arguments.turns`), to which `sessions` belong. The others are only in the counts: made outside of turns, in turns that were not read, or, with `cursor`, all. */
                readCalls: number;
                /** @description The name that was called. */
                requested: string;
                /** @description The newest sessions with such calls, at most 20. */
                sessions: string[];
                /** @description The tool that it leads to in the stored version. */
                was: string | null;
                /** @description The name of the earlier tool in the draft; null: it is not there. */
                wireName: string | null;
            }[];
            /** @description What the policy, as it is now, decides about calls whose names lead to the same tool in both. Calls by name count on each page, and those whose arguments decide on the first. */
            decisions: {
                /** @description By tool and deciding rules, the most calls first, at most 100. The reasons are those of one of the calls. */
                changed: {
                    /** @description At most 20. */
                    agents: string[];
                    calls: number;
                    /** @description At most 20. */
                    keys: string[];
                    now: {
                        reason: string;
                        /** @description Index of the rule. null: the default, the entry of the toolset, or a known host. */
                        rule: number | null;
                        /** @enum {string} */
                        verdict: "allow" | "ask" | "deny";
                    };
                    /** @description At most 20. */
                    sessions: string[];
                    tool: string;
                    was: {
                        reason: string;
                        /** @description Index of the rule. null: the default, the entry of the toolset, or a known host. */
                        rule: number | null;
                        /** @enum {string} */
                        verdict: "allow" | "ask" | "deny";
                    };
                }[];
                changedCalls: number;
                /** @description Calls that were judged, each with both. */
                judged: number;
                unjudged: {
                    /** @description Calls whose arguments decide, of which only hashes are kept, or whose turn was not read. */
                    arguments: number;
                    /** @description Calls of code, scripts and made tools. They are in `judged`, without what they do while they run. */
                    inner: number;
                    /** @description Calls of tools that are not there now, that the client has, or whose entries are decided differently. */
                    tools: number;
                };
            };
            /** Format: date */
            from: string;
            /** @description The draft with all fixes, ready for PUT. null: no fix is known. */
            mended: components["schemas"]["Toolset"] | null;
            /** @description Deprecated aliases that keep a name working. Each was tried. */
            mends: {
                alias: string;
                /** @description Its index in `tools` of the draft; null: a new entry. */
                entry: number | null;
                note: string;
                requested: string;
                tool: string;
            }[];
            /** @description More names follow; a name may be on two pages. */
            nextCursor: string | null;
            /** @description Names that lead where they led. */
            same: {
                calls: number;
                names: number;
            };
            /** Format: date */
            to: string;
            toolset: string;
            /** @description Calls whose names were not kept, since a day had too many, or before names were counted. */
            unjudged: number;
            /** @description Whether PUT would store the draft. If not, its valid entries are compared. */
            valid: boolean;
        };
        ToolsetPreview: {
            conflicts: {
                claims: {
                    /** @enum {string} */
                    as: "name" | "alias" | "default-alias" | "own-name" | "reserved";
                    /** @description `tools[i]`; null: a tool that Moniker adds. */
                    entry: string | null;
                    /** @description In the spelling of this claim. */
                    name: string;
                    /** @description Where the name is written, or the entry. */
                    path: string | null;
                    /** @description A free name for it; null: it cannot be given up. */
                    suggestion: string | null;
                    tool: string;
                }[];
                name: string;
                suggestion: string;
                tools: string[];
            }[];
            issues: {
                message: string;
                path: string;
            }[];
            /** @description Text added to the system prompt: instructions of trusted servers, the block about aliases, and with the text protocol the tools. null: none. */
            prompt: string | null;
            /** @description Estimated by `tokenizer`. */
            promptTokens: number;
            provider: string;
            /** @description How tokens are counted. */
            tokenizer: string;
            /** @description Tokens sent with the first step: the definitions that are not on demand, and the prompt. */
            tokens: number;
            tools: {
                aliases: string[];
                canonical: string;
                /** @description Differences from the toolset: `path` is a JSON Pointer into the tool's input schema, '' means the tool itself. */
                changes: {
                    message: string;
                    path: string;
                }[];
                /** @description As sent in the body of this provider's API; null: not sent, and `left` has the reason. */
                definition: {
                    [key: string]: unknown;
                } | null;
                /** @description Its path in the document, `tools[i]`; null: added automatically, because most tools are loaded on demand. */
                entry: string | null;
                held?: components["schemas"]["Hold"];
                /** @description Preset arguments, which are removed from the definition. */
                hiddenArguments?: string[];
                /** @enum {string} */
                kind: "builtin" | "local" | "mcp" | "openapi" | "static" | "made" | "client" | "ui";
                /** @description Why it is not sent. */
                left?: string;
                /**
                 * @description Not sent initially, but after it was found with `find_tools` or called.
                 * @constant
                 */
                onDemand?: true;
                /** @description For a missing tool: the tool that now has its definition. */
                renamedTo?: string;
                state: components["schemas"]["ToolState"];
                /** @description Estimated by `tokenizer`. */
                tokens: number;
                wireName: string;
            }[];
            toolset: string;
            /** @description Whether PUT would store the draft. */
            valid: boolean;
            /** @description Tools that cannot be called or sent, why the toolset still has the tools of an earlier build, and possible improvements: too many definitions for clients and models, names over 40 characters, descriptions that are similar, empty or long, and schema features that this provider does not support. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @description A toolset, or one version of it.
         * @example demo
         */
        ToolsetReference: string;
        ToolsetSuggestions: {
            /** Format: date */
            from: string;
            /** @description The most seen first, at most 200. */
            suggestions: {
                agents: string[];
                /** @description For `aliases` of the entry, or, with `argument`, for its `arguments.alias`: `{alias: argument}`. */
                alias: string;
                /** @description The argument that they gave then, by the own name of the tool. null: `name` is one of the tool. */
                argument: string | null;
                /** @description Refused calls of the name that were followed by another one. */
                contrary: number;
                /** @description The arguments of at most 3 refused calls: values as JSON, shortened. Only the type, such as `<string>`, is shown of values that may be secret, that are long, or that the redaction rules of the workspace match. */
                examples: {
                    [key: string]: string;
                }[];
                /** @description The tool may delete data. No alias is proposed for it: `name` only shows what models call. */
                isNoteOnly: boolean;
                models: string[];
                /** @description What models call, in the most frequent spelling. */
                name: string;
                preview: {
                    /** @description Calls that were accepted, and would have failed or called another tool. */
                    broken: number;
                    /** @description Calls of the last days that failed, and would have been accepted with the alias. */
                    found: number;
                };
                /** @description Refused calls that were followed by this one in the same turn, with the same values. */
                seen: number;
                /** @description The tool that they called then, by its canonical name. */
                tool: string;
            }[];
            /** Format: date */
            to: string;
            toolset: string;
            /** @description The turns whose calls were read, the newest first. */
            turns: {
                /** @description Not read: turns of more than 50 sessions, of a session that was deleted, or of another key. */
                left: number;
                /** @description Older turns were not looked for. */
                more: boolean;
                read: number;
            };
            /** @description Names that were called and lead to no tool, at most 100, the most called first. `near`: tools with similar names. */
            unknown: {
                agents: string[];
                calls: number;
                keys: string[];
                lastDay: string | null;
                near: string[];
                /** @description At most so many of `calls` were of other names: a day keeps the most frequent ones. */
                overcount?: number;
                requested: string;
            }[];
            /** @description Aliases that no call used in these days, at most 100. null: the version is younger than that, there are too many names, or the key sees only its own calls. */
            unused: {
                alias: string;
                entry: number;
            }[] | null;
        };
        ToolsetSummary: {
            /** Format: date-time */
            createdAt: string;
            description?: string;
            name: string;
            toolCount: number;
            /** Format: date-time */
            updatedAt: string;
            version: number;
        };
        /**
         * @example {
         *       "toolset": "demo",
         *       "version": 1,
         *       "provider": "openai",
         *       "tools": [
         *         {
         *           "canonical": "builtin.bash",
         *           "wireName": "terminalRun",
         *           "aliases": [
         *             "shell"
         *           ],
         *           "kind": "builtin",
         *           "state": "ready",
         *           "entry": "tools[0]",
         *           "definition": {
         *             "type": "function",
         *             "function": {
         *               "name": "terminalRun",
         *               "description": "Runs a command.",
         *               "parameters": {
         *                 "type": "object",
         *                 "properties": {
         *                   "command": {
         *                     "type": "string"
         *                   }
         *                 },
         *                 "required": [
         *                   "command"
         *                 ]
         *               }
         *             }
         *           },
         *           "tokens": 44,
         *           "changes": []
         *         }
         *       ],
         *       "tokens": 84,
         *       "promptTokens": 40,
         *       "tokenizer": "estimate: one token per 4 characters sent",
         *       "prompt": "## Tool names\nA tool may be called by the name at the left or by any of its aliases:\n- terminalRun = builtin.bash (aliases: shell): Runs a command.",
         *       "warnings": []
         *     }
         */
        ToolsetTools: {
            /** @description Text added to the system prompt: instructions of trusted servers, the block about aliases, and with the text protocol the tools. null: none. */
            prompt: string | null;
            /** @description Estimated by `tokenizer`. */
            promptTokens: number;
            provider: string;
            /** @description How tokens are counted. */
            tokenizer: string;
            /** @description Tokens sent with the first step: the definitions that are not on demand, and the prompt. */
            tokens: number;
            tools: {
                aliases: string[];
                canonical: string;
                /** @description Differences from the toolset: `path` is a JSON Pointer into the tool's input schema, '' means the tool itself. */
                changes: {
                    message: string;
                    path: string;
                }[];
                /** @description As sent in the body of this provider's API; null: not sent, and `left` has the reason. */
                definition: {
                    [key: string]: unknown;
                } | null;
                /** @description Its path in the document, `tools[i]`; null: added automatically, because most tools are loaded on demand. */
                entry: string | null;
                held?: components["schemas"]["Hold"];
                /** @description Preset arguments, which are removed from the definition. */
                hiddenArguments?: string[];
                /** @enum {string} */
                kind: "builtin" | "local" | "mcp" | "openapi" | "static" | "made" | "client" | "ui";
                /** @description Why it is not sent. */
                left?: string;
                /**
                 * @description Not sent initially, but after it was found with `find_tools` or called.
                 * @constant
                 */
                onDemand?: true;
                /** @description For a missing tool: the tool that now has its definition. */
                renamedTo?: string;
                state: components["schemas"]["ToolState"];
                /** @description Estimated by `tokenizer`. */
                tokens: number;
                wireName: string;
            }[];
            toolset: string;
            version: number;
            /** @description Tools that cannot be called or sent, why the toolset still has the tools of an earlier build, and possible improvements: too many definitions for clients and models, names over 40 characters, descriptions that are similar, empty or long, and schema features that this provider does not support. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "toolset": "demo",
         *       "agents": [
         *         {
         *           "name": "helper",
         *           "toolset": "demo@3"
         *         }
         *       ],
         *       "keys": [
         *         {
         *           "id": "k7pd2mxw4q",
         *           "name": "my app",
         *           "agent": "helper"
         *         }
         *       ],
         *       "webhooks": [
         *         {
         *           "name": "orders",
         *           "agent": "helper"
         *         }
         *       ],
         *       "schedules": [],
         *       "equipped": [],
         *       "truncated": false
         *     }
         */
        ToolsetUses: {
            /** @description Agents, with their `toolset`: the name, or a version such as `demo@3`. */
            agents: {
                name: string;
                toolset: string;
            }[];
            /** @description Keys that have it equipped at `/mcp`. */
            equipped: {
                id: string;
                name: string;
            }[];
            /** @description Valid keys that are bound to the toolset (`agent`: null), or to an agent that has it. Keys without bindings may use every toolset and are not listed. */
            keys: {
                agent: string | null;
                id: string;
                name: string;
            }[];
            schedules: {
                /** @description The agent that has the toolset. */
                agent: string;
                name: string;
            }[];
            toolset: string;
            /** @description true: a list has more items than are shown. */
            truncated: boolean;
            webhooks: {
                /** @description The agent that has the toolset. */
                agent: string;
                name: string;
            }[];
        };
        /**
         * @example {
         *       "name": "demo",
         *       "announce": "prompt",
         *       "tools": [
         *         {
         *           "tool": "builtin.bash",
         *           "name": "terminalRun",
         *           "aliases": [
         *             "shell",
         *             "bash"
         *           ]
         *         }
         *       ]
         *     }
         */
        ToolsetView: {
            /** @default prompt */
            announce?: components["schemas"]["Announce"];
            description?: string;
            /**
             * @description Suggestions that are not to be made again (`GET …/suggestions`): a name, or `<tool>#<argument>`. They change nothing else.
             * @example [
             *       "Glob",
             *       "fs.read_file#file_path"
             *     ]
             */
            dismissed?: string[];
            mcpTools?: components["schemas"]["McpTools"];
            name: string;
            /**
             * @description Further names of the listed tools, as hidden aliases: name → any name of a tool in this toolset.
             * @example {
             *       "flashcards": "create_flashcard",
             *       "websearch": "search"
             *     }
             */
            nameMap?: {
                [key: string]: string;
            };
            names?: components["schemas"]["NamesMode"];
            /** @description With more tools than this, the model gets `find_tools` and the definitions that it found. Default 64. */
            onDemandAbove?: number;
            /** @description The prompts of MCP servers for MCP clients of this toolset. Absent: those that the trusted servers of its tools list. Empty: none. */
            prompts?: components["schemas"]["PromptEntry"][];
            /** @description The resources of MCP servers that MCP clients of this toolset can read. Absent: those that the trusted servers of its tools list. Empty: none. */
            resources?: components["schemas"]["ResourceEntry"][];
            /**
             * @description Canonical names of tools that no version of this toolset may call any more, not even in running turns and in sessions with an earlier version. Absent: those of the stored document. A list replaces them, so that `[]` gives all of them back.
             * @example [
             *       "github.delete_repo"
             *     ]
             */
            revoked?: string[];
            tools: components["schemas"]["ToolsetEntry"][];
        };
        /**
         * @description `missing`: its server does not list it. `held`: its definition has not been accepted. Neither is sent to models or can be called.
         * @enum {string}
         */
        ToolState: "ready" | "missing" | "held";
        TranscriptMessage: {
            parts: {
                [key: string]: unknown;
            }[];
            /** @enum {string} */
            role: "user" | "assistant" | "tool";
            turn: string;
        };
        /** @enum {string} */
        TriggerEvent: "turn.completed" | "turn.failed" | "approval.required" | "definition.held";
        /**
         * @example {
         *       "turn": "turn_1",
         *       "position": 0
         *     }
         */
        TurnAccepted: {
            /** @description Number of turns ahead of it. */
            position: number;
            turn: string;
        };
        TurnAnswer: {
            /** @description With status `waiting`: what the turn waits for. */
            pending?: components["schemas"]["Pending"][];
            /** @description For a failed turn: the problem that ended it. */
            problem?: {
                [key: string]: unknown;
            };
            /** @description UI tools that the user may want next, the best first. Absent: none. */
            proposals?: components["schemas"]["Proposal"][];
            reason: string;
            /** @enum {string} */
            status: "completed" | "failed" | "cancelled" | "interrupted" | "waiting";
            /** @description Text of the last step. */
            text: string;
            toolCalls: {
                arguments: {
                    [key: string]: unknown;
                } | null;
                callId: string;
                canonical: string | null;
                code?: components["schemas"]["ToolResultCode"];
                content: components["schemas"]["ContentBlock"][];
                isError: boolean;
                requested: string;
                via: components["schemas"]["Via"] | null;
            }[];
            turn: string;
            usage: components["schemas"]["Usage"];
        };
        /**
         * @example {
         *       "name": "code_review",
         *       "arguments": {
         *         "file": "src/main.ts"
         *       }
         *     }
         */
        TurnPrompt: {
            arguments?: {
                [key: string]: string;
            };
            /** @description As `GET /v1/sessions/{id}/prompts` lists it, or an alias. */
            name: string;
        };
        /**
         * @example {
         *       "input": "/shell echo hello"
         *     }
         */
        TurnRequest: {
            /** @description Required without `prompt`; with it, it follows the messages of the prompt. */
            input?: string | (components["schemas"]["TextPart"] | components["schemas"]["ImagePart"] | components["schemas"]["FilePart"])[];
            /** @description A prompt of an MCP server that the toolset offers: its messages are the input. The request to the server is a direct call: with the code `approval_required` and `pending`, it waits for an approval, after which the same prompt is sent again. */
            prompt?: components["schemas"]["TurnPrompt"];
            /** @description Tools that the client runs itself: the turn waits for their results. Default: the tools that the session was created with. */
            tools?: (components["schemas"]["ClientTool"] | components["schemas"]["OpenAiTool"])[];
        };
        /**
         * @example {
         *       "model": "agent/demo",
         *       "messages": [
         *         {
         *           "id": "m1",
         *           "role": "user",
         *           "parts": [
         *             {
         *               "type": "text",
         *               "text": "Hello"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        UiChatRequest: {
            id?: string;
            messageId?: string | null;
            /** @description The whole conversation, as the client has it. */
            messages: ({
                id?: string;
                parts: ({
                    approval?: {
                        approved?: boolean;
                        id: string;
                        reason?: string;
                    } & {
                        [key: string]: unknown;
                    };
                    errorText?: string;
                    filename?: string;
                    mediaType?: string;
                    providerExecuted?: boolean;
                    state?: string;
                    text?: string;
                    toolCallId?: string;
                    toolName?: string;
                    type: string;
                    url?: string;
                } & {
                    [key: string]: unknown;
                })[];
                /** @enum {string} */
                role: "system" | "user" | "assistant";
            } & {
                [key: string]: unknown;
            })[];
            /** @description Extension: `agent/<name>` or `<provider>/<model>`, by `body` of the transport. */
            model: string;
            /** @description Extension: tools that the client runs, by `onToolCall` and `addToolOutput`. */
            tools?: ({
                description?: string | null;
                inputSchema?: {
                    [key: string]: unknown;
                } | null;
                name: string;
            } & {
                [key: string]: unknown;
            })[] | null;
            /** @description Extension: the toolset whose tools the service runs. */
            toolset?: string | null;
            trigger?: string;
        } & {
            [key: string]: unknown;
        };
        UiMessageChunk: {
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "label": "Camera",
         *       "description": "Takes a photo of homework.",
         *       "category": "upload",
         *       "triggers": [
         *         "photo",
         *         "take a picture"
         *       ],
         *       "href": "/camera"
         *     }
         */
        UiTool: {
            /** @example practice */
            category: string;
            description: string;
            href?: string;
            /** @description The label shown to the person. */
            label: string;
            /** @description Words or phrases in the conversation that suggest the tool. */
            triggers: string[];
        };
        /**
         * @example {
         *       "kind": "prompt",
         *       "name": "review"
         *     }
         */
        UndoOffer: {
            /** @enum {string} */
            kind: "prompt" | "resource" | "template";
            /** @description The name of a prompt, the URI of a resource, or a template. */
            name: string;
            /** @description Undoes the decision about this definition. Default: the newest decision. */
            refId?: string;
        };
        /** @example {} */
        UndoRequest: {
            /** @description Undoes the decision about this definition. Default: the newest decision. */
            refId?: string;
        };
        /**
         * @example {
         *       "inputTokens": 120,
         *       "outputTokens": 35
         *     }
         */
        Usage: {
            cachedInputTokens?: number;
            /** @description The part of `cacheWriteInputTokens` that the provider keeps for an hour. */
            cacheWriteHourInputTokens?: number;
            /** @description Input written to the provider’s cache. */
            cacheWriteInputTokens?: number;
            /** @description In USD, as the provider reported it. Absent: not of every call. */
            cost?: number;
            inputTokens: number;
            outputTokens: number;
            reasoningTokens?: number;
        };
        /**
         * @example {
         *       "requestsPerMinute": 60,
         *       "dailyCost": 5
         *     }
         */
        UsageLimits: {
            /** @description Requests at the same time, until their response begins, in each location. Default: 500 of a key, 2000 of a workspace. */
            concurrentRequests?: number;
            /** @description Turns that run or are queued at the same time. Turns that wait for a person do not count. */
            concurrentTurns?: number;
            /** @description Cost of models and tools per day (UTC), in the unit of the providers’ `prices`. Models without a price are refused. */
            dailyCost?: number;
            /** @description The same per calendar month (UTC). */
            monthlyCost?: number;
            /** @description Responses and event logs that are streamed at the same time, in each location. Default: 500 of a key, 2000 of a workspace. */
            openStreams?: number;
            /** @description Approvals and requests for input that wait at the same time, in all sessions. Default: 2000 of a key, 10000 of a workspace. */
            pendingQuestions?: number;
            /** @description Requests per minute. For an agent: turns per minute. */
            requestsPerMinute?: number;
            /** @description Seconds per minute that code of made tools and of `run_code`, scripts of `bash`, and the work on arguments, results and events compute. */
            sandboxSecondsPerMinute?: number;
            /** @description Bytes of the files of all its sessions. */
            storageBytes?: number;
            /** @description Input and output tokens of models per minute: of the requests that are sent to models in that minute. */
            tokensPerMinute?: number;
        };
        /**
         * @description The fields of `by`, null where there is none, and sums. Tokens belong to models: groups by tool have none. Groups by model or provider do not have the cost of tools.
         * @example {
         *       "day": "2026-01-01",
         *       "model": "openai/gpt-5",
         *       "calls": 2,
         *       "failures": 0,
         *       "durationMs": 1800,
         *       "inputTokens": 240,
         *       "cachedInputTokens": 64,
         *       "cacheWriteInputTokens": 0,
         *       "outputTokens": 70,
         *       "reasoningTokens": 20,
         *       "cost": 0.00093,
         *       "unpricedCalls": 0,
         *       "unreportedCalls": 0
         *     }
         */
        UsageRow: {
            agent?: string | null;
            cachedInputTokens?: number;
            cacheWriteInputTokens?: number;
            calls: number;
            /** @description Of the calls whose cost is known; null: of none. USD, unless a provider has `prices` in another currency. */
            cost?: number | null;
            /**
             * Format: date
             * @description In UTC.
             */
            day?: string;
            /** @description Sum over the calls. */
            durationMs: number;
            /** @description Calls that failed, which are also counted in `calls`. */
            failures: number;
            /** @description Includes cached input. */
            inputTokens?: number;
            /** @description Id of the key. */
            key?: string;
            /**
             * Format: date
             * @description With `requested` or `via`: the last day with such a call.
             */
            lastDay?: string;
            /** @description `<provider>/<model>` as called, so after aliases, agents and fallbacks. */
            model?: string;
            /** @description Includes reasoning. */
            outputTokens?: number;
            /** @description At most so many of `calls` were of other names that are no tools: a day keeps the most frequent ones. Absent: none. */
            overcount?: number;
            provider?: string;
            reasoningTokens?: number;
            /** @description The name that was called. null: not kept, because there were too many, or before this was counted. */
            requested?: string | null;
            /** @description Canonical name. null, with `requested` or `via`: the name was of no tool, or of several. */
            tool?: string | null;
            /** @description The part of `cost` that calls of tools cost, in USD. Absent: none. */
            toolCost?: number;
            toolset?: string | null;
            /** @description Calls whose cost is unknown: the model has no price, or the provider reported no tokens. */
            unpricedCalls?: number;
            /** @description Calls for which the provider reported no tokens, such as interrupted ones. */
            unreportedCalls?: number;
            /** @description How the name led to the tool. null: it led to none, or was not kept. */
            via?: components["schemas"]["Via"] | null;
        };
        UsageTotals: {
            cachedInputTokens?: number;
            cacheWriteInputTokens?: number;
            calls: number;
            /** @description Of the calls whose cost is known; null: of none. USD, unless a provider has `prices` in another currency. */
            cost?: number | null;
            /** @description Sum over the calls. */
            durationMs: number;
            /** @description Calls that failed, which are also counted in `calls`. */
            failures: number;
            /** @description Includes cached input. */
            inputTokens?: number;
            /** @description Includes reasoning. */
            outputTokens?: number;
            reasoningTokens?: number;
            /** @description The part of `cost` that calls of tools cost, in USD. Absent: none. */
            toolCost?: number;
            /** @description Calls whose cost is unknown: the model has no price, or the provider reported no tokens. */
            unpricedCalls?: number;
            /** @description Calls for which the provider reported no tokens, such as interrupted ones. */
            unreportedCalls?: number;
        };
        /**
         * @example {
         *       "id": "3f1c…",
         *       "name": "Ada Lovelace",
         *       "email": "ada@example.com"
         *     }
         */
        User: {
            email?: string;
            id: string;
            name: string;
        };
        UserConnection: {
            /** Format: date-time */
            connectedAt: string;
            /** @description Id of the key, or `user-…` of a person. */
            key: string;
            /** @description Name of the key. */
            name?: string;
        };
        /** @enum {string} */
        Via: "wire" | "canonical" | "alias" | "own" | "folded";
        Warning: {
            message: string;
            path: string;
        };
        /**
         * @example {
         *       "agent": "demo",
         *       "scheme": "github",
         *       "secret": "the secret configured at GitHub",
         *       "filter": "event == \"issues\" && payload.action == \"opened\"",
         *       "session": "{{repository.full_name}}#{{issue.number}}",
         *       "input": "New issue: {{issue.title}}\n\n{{issue.body}}"
         *     }
         */
        Webhook: {
            /** @description The agent that runs the turns. */
            agent: string;
            /** @description For scheme `bearer`. Absent: `Authorization: Bearer <secret>`. */
            bearer?: components["schemas"]["BearerSettings"];
            /** @description Write-only. Signs the callbacks; `whsec_` and base64. If absent in a later PUT, the current one stays. */
            callbackSecret?: string;
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            description?: string;
            /** @description CEL over `event`, `payload` and `headers`, such as `event == "issues" && payload.action in ["opened", "edited"]`. Other events are stored as `ignored`, also if a field in the expression is missing; test for it with `has(payload.field)` or `"X-Kind" in headers`. */
            filter?: string;
            /** @description Required for scheme `hmac`, and only valid there. */
            hmac?: components["schemas"]["HmacSettings"];
            /** @description Template of the agent’s input: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}` with `{{this}}` and `{{@index}}`, `{{#if path}}…{{else}}…{{/if}}`. Values other than a single plain word are put between `<data>` and `</data>`. */
            input: string;
            /** @description If given, equals the name in the path. */
            name?: string;
            /** @description Deliveries are stored as `ignored` and can be replayed. */
            paused?: boolean;
            /**
             * @description `sync`: waits up to 25 s and responds with the turn’s text.
             * @default async
             * @enum {string}
             */
            respond?: "async" | "sync";
            /** @description How deliveries are signed. */
            scheme: components["schemas"]["WebhookScheme"];
            /** @description Write-only: one secret, or several during a rotation, all of which are accepted. Required at creation; if absent later, the current ones stay. */
            secret?: string | string[];
            /**
             * @description Template of the session’s key: deliveries with the same key share a session. Different values never make the same key: with `{{a}}:{{b}}`, `:` and `%` in `a` are percent-encoded. Absent: a new session for each delivery.
             * @default {{@delivery}}
             */
            session?: string;
        };
        WebhookDelivery: {
            endedAt: string | null;
            /** @description The type of the event, if the payload or a header contains it. */
            event: string | null;
            /** @description The sender’s id; for a schedule the time when the run was due. */
            id: string;
            /** @description Why it was ignored, skipped or failed, or which limit ended its turn; otherwise null. */
            reason: string | null;
            /** Format: date-time */
            receivedAt: string;
            /** @description The number of redeliveries. */
            repeats: number;
            /** @description Starts at 1; each replay adds 1. */
            run: number;
            /** @description The id of its session; null: no session. */
            session: string | null;
            /** @description The rendered session key. */
            sessionKey: string | null;
            status: components["schemas"]["DeliveryStatus"];
            turn: string | null;
            /** @description Paths in the templates that the payload does not have. */
            warnings: string[];
            webhook: string;
        };
        /** @enum {string} */
        WebhookScheme: "standard" | "github" | "stripe" | "slack" | "hmac" | "bearer";
        /**
         * @example {
         *       "event": "issues",
         *       "payload": {
         *         "action": "opened",
         *         "issue": {
         *           "number": 1,
         *           "title": "It breaks"
         *         }
         *       }
         *     }
         */
        WebhookTest: {
            /** @description A webhook that is tested instead of the stored one, which need not exist. It is validated as by PUT, and not stored. */
            draft?: components["schemas"]["WebhookToWrite"];
            event?: string;
            /** @description Headers by lower-case name. */
            headers?: {
                [key: string]: string;
            };
            /** @description As the sender would send it: a JSON value or text. */
            payload: components["schemas"]["JsonValue"];
        };
        WebhookTestAnswer: {
            /** @description The input that the agent would receive. */
            input: string | null;
            /** @description Whether the filter matches. */
            matches: boolean;
            /** @description Why no turn would start; null: a turn would start. */
            reason: string | null;
            sessionKey: string | null;
            warnings: string[];
        };
        /**
         * @example {
         *       "agent": "demo",
         *       "scheme": "github",
         *       "secret": "the secret configured at GitHub",
         *       "filter": "event == \"issues\" && payload.action == \"opened\"",
         *       "session": "{{repository.full_name}}#{{issue.number}}",
         *       "input": "New issue: {{issue.title}}\n\n{{issue.body}}"
         *     }
         */
        WebhookToWrite: {
            /** @description The agent that runs the turns. */
            agent: string;
            /** @description For scheme `bearer`. Absent: `Authorization: Bearer <secret>`. */
            bearer?: components["schemas"]["BearerSettings"];
            /** @description Write-only. Signs the callbacks; `whsec_` and base64. If absent in a later PUT, the current one stays. */
            callbackSecret?: string;
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            description?: string;
            /** @description CEL over `event`, `payload` and `headers`, such as `event == "issues" && payload.action in ["opened", "edited"]`. Other events are stored as `ignored`, also if a field in the expression is missing; test for it with `has(payload.field)` or `"X-Kind" in headers`. */
            filter?: string;
            /** @description false: the first of its secrets signs callbacks. */
            readonly hasCallbackSecret?: boolean;
            /** @description Shown by GET; ignored on writes. */
            readonly hasSecret?: boolean;
            /** @description Required for scheme `hmac`, and only valid there. */
            hmac?: components["schemas"]["HmacSettings"];
            /** @description Template of the agent’s input: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}` with `{{this}}` and `{{@index}}`, `{{#if path}}…{{else}}…{{/if}}`. Values other than a single plain word are put between `<data>` and `</data>`. */
            input: string;
            /** @description If given, equals the name in the path. */
            name?: string;
            /** @description Deliveries are stored as `ignored` and can be replayed. */
            paused?: boolean;
            /**
             * @description `sync`: waits up to 25 s and responds with the turn’s text.
             * @default async
             * @enum {string}
             */
            respond?: "async" | "sync";
            /** @description How deliveries are signed. */
            scheme: components["schemas"]["WebhookScheme"];
            /** @description Write-only: one secret, or several during a rotation, all of which are accepted. Required at creation; if absent later, the current ones stay. */
            secret?: string | string[];
            /** @description Number of accepted secrets. */
            readonly secrets?: number;
            /**
             * @description Template of the session’s key: deliveries with the same key share a session. Different values never make the same key: with `{{a}}:{{b}}`, `:` and `%` in `a` are percent-encoded. Absent: a new session for each delivery.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The URL for the sender. Only a path if MONIKER_PUBLIC_URL is not set. */
            readonly url?: string;
            /** @description Problems with the document in the current workspace. Absent: none. */
            readonly warnings?: components["schemas"]["Warning"][];
        };
        WebhookView: {
            /** @description The agent that runs the turns. */
            agent: string;
            /** @description For scheme `bearer`. Absent: `Authorization: Bearer <secret>`. */
            bearer?: components["schemas"]["BearerSettings"];
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            description?: string;
            /** @description CEL over `event`, `payload` and `headers`, such as `event == "issues" && payload.action in ["opened", "edited"]`. Other events are stored as `ignored`, also if a field in the expression is missing; test for it with `has(payload.field)` or `"X-Kind" in headers`. */
            filter?: string;
            /** @description false: the first of its secrets signs callbacks. */
            readonly hasCallbackSecret: boolean;
            /** @description Shown by GET; ignored on writes. */
            readonly hasSecret: boolean;
            /** @description Required for scheme `hmac`, and only valid there. */
            hmac?: components["schemas"]["HmacSettings"];
            /** @description Template of the agent’s input: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}` with `{{this}}` and `{{@index}}`, `{{#if path}}…{{else}}…{{/if}}`. Values other than a single plain word are put between `<data>` and `</data>`. */
            input: string;
            name: string;
            /** @description Deliveries are stored as `ignored` and can be replayed. */
            paused?: boolean;
            /**
             * @description `sync`: waits up to 25 s and responds with the turn’s text.
             * @default async
             * @enum {string}
             */
            respond?: "async" | "sync";
            /** @description How deliveries are signed. */
            scheme: components["schemas"]["WebhookScheme"];
            /** @description Number of accepted secrets. */
            readonly secrets: number;
            /**
             * @description Template of the session’s key: deliveries with the same key share a session. Different values never make the same key: with `{{a}}:{{b}}`, `:` and `%` in `a` are percent-encoded. Absent: a new session for each delivery.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The URL for the sender. Only a path if MONIKER_PUBLIC_URL is not set. */
            readonly url: string;
        };
        /**
         * @example {
         *       "settings": {
         *         "retention": {
         *           "auditDays": 30
         *         }
         *       }
         *     }
         */
        Workspace: {
            /** @default {} */
            settings?: {
                /**
                 * @description An endpoint that is asked before each tool call and after each result, and may deny or change them. null: none.
                 * @default null
                 */
                guard?: components["schemas"]["Guard"] | null;
                /** @default {} */
                keys?: {
                    /**
                     * @description After how many days a new key expires whose request has no `expiresAt`. null: never.
                     * @default null
                     */
                    expiryDays?: number | null;
                };
                /**
                 * @description Limits of all keys, agents, webhooks and schedules of the workspace together.
                 * @default {}
                 */
                limits?: components["schemas"]["UsageLimits"];
                /**
                 * @description Patterns of the only models that all keys, people, agents, webhooks and schedules of the workspace may use. null: all.
                 * @default null
                 */
                models?: components["schemas"]["ModelPatterns"] | null;
                /**
                 * @description Further names of tools, as hidden aliases in every toolset that has the tool: name → any name of a tool. A name that a toolset uses itself is left out there.
                 * @default {}
                 * @example {
                 *       "flashcards": "create_flashcard",
                 *       "websearch": "search"
                 *     }
                 */
                nameMap?: {
                    [key: string]: string;
                };
                /**
                 * @description Rules for texts that are replaced by labels in results and logs. null: none.
                 * @default null
                 */
                redaction?: components["schemas"]["Redaction"] | null;
                /** @default {} */
                requestLog?: {
                    /**
                     * @description Whether `GET /v1/requests/{request}` has the bodies of requests without a turn and of their responses, which contain what people write. Switching it off deletes the stored ones.
                     * @default false
                     */
                    bodies?: boolean;
                };
                /** @default {} */
                retention?: {
                    /**
                     * @description How long rows of `GET /v1/audit` are kept.
                     * @default 90
                     */
                    auditDays?: number;
                    /**
                     * @description How long rows of `GET /v1/requests` are kept.
                     * @default 30
                     */
                    requestDays?: number;
                    /**
                     * @description Sessions that were not used for this long are deleted with their files. null: never.
                     * @default null
                     */
                    sessionDays?: number | null;
                    /**
                     * @description How long the daily figures of `GET /v1/usage` are kept.
                     * @default 400
                     */
                    usageDays?: number;
                    /**
                     * @description How many versions of a document are kept. Versions that something names are kept in any case.
                     * @default 100
                     */
                    versions?: number;
                };
            };
        };
        WorkspaceDeletion: {
            /**
             * Format: date-time
             * @description When nothing was left. Absent: the deletion is in progress.
             */
            finishedAt?: string;
            /** @description What is left, by kind, as far as it was counted: `sessions`, `objects` (other sessions and files) and `values` of KV. */
            left: {
                [key: string]: number;
            };
            /** Format: date-time */
            startedAt: string;
        };
        WorkspacePage: {
            items: components["schemas"]["WorkspaceView"][];
            /** @description null on the last page. */
            nextCursor: string | null;
        };
        WorkspaceReseal: {
            /** @description A number of values. */
            done: number;
            /** @description Why the newest attempt failed. It is retried. */
            fault: string | null;
            isDone: boolean;
            /** @description Values that the current key has not sealed. null: not counted yet. */
            left: number | null;
            /** @description Values that neither key opens, at most 20. PUT them again. */
            unreadable: {
                kind: string;
                name: string;
            }[];
            workspace: string;
        };
        WorkspaceView: {
            /** @description null: the workspace `default`, which always exists. */
            createdAt: string | null;
            deletion?: components["schemas"]["WorkspaceDeletion"];
            name: string;
            /** @default {} */
            settings?: {
                /**
                 * @description An endpoint that is asked before each tool call and after each result, and may deny or change them. null: none.
                 * @default null
                 */
                guard?: components["schemas"]["Guard"] | null;
                /** @default {} */
                keys?: {
                    /**
                     * @description After how many days a new key expires whose request has no `expiresAt`. null: never.
                     * @default null
                     */
                    expiryDays?: number | null;
                };
                /**
                 * @description Limits of all keys, agents, webhooks and schedules of the workspace together.
                 * @default {}
                 */
                limits?: components["schemas"]["UsageLimits"];
                /**
                 * @description Patterns of the only models that all keys, people, agents, webhooks and schedules of the workspace may use. null: all.
                 * @default null
                 */
                models?: components["schemas"]["ModelPatterns"] | null;
                /**
                 * @description Further names of tools, as hidden aliases in every toolset that has the tool: name → any name of a tool. A name that a toolset uses itself is left out there.
                 * @default {}
                 * @example {
                 *       "flashcards": "create_flashcard",
                 *       "websearch": "search"
                 *     }
                 */
                nameMap?: {
                    [key: string]: string;
                };
                /**
                 * @description Rules for texts that are replaced by labels in results and logs. null: none.
                 * @default null
                 */
                redaction?: components["schemas"]["Redaction"] | null;
                /** @default {} */
                requestLog?: {
                    /**
                     * @description Whether `GET /v1/requests/{request}` has the bodies of requests without a turn and of their responses, which contain what people write. Switching it off deletes the stored ones.
                     * @default false
                     */
                    bodies?: boolean;
                };
                /** @default {} */
                retention?: {
                    /**
                     * @description How long rows of `GET /v1/audit` are kept.
                     * @default 90
                     */
                    auditDays?: number;
                    /**
                     * @description How long rows of `GET /v1/requests` are kept.
                     * @default 30
                     */
                    requestDays?: number;
                    /**
                     * @description Sessions that were not used for this long are deleted with their files. null: never.
                     * @default null
                     */
                    sessionDays?: number | null;
                    /**
                     * @description How long the daily figures of `GET /v1/usage` are kept.
                     * @default 400
                     */
                    usageDays?: number;
                    /**
                     * @description How many versions of a document are kept. Versions that something names are kept in any case.
                     * @default 100
                     */
                    versions?: number;
                };
            };
            /**
             * @description `deleting`: keys are refused, and the content is being erased. `deleted`: nothing is left; listed for 30 days.
             * @enum {string}
             */
            status: "active" | "deleting" | "deleted";
            /** @description Counts the writes of the settings. 0: none; all settings have their defaults. */
            version: number;
        };
        WrittenAgent: {
            /**
             * @description If a tool of the caller has a name of a server tool: `replace` (default) leaves the server tool out of the turn, `strict` rejects the request.
             * @enum {string}
             */
            clientTools?: "replace" | "strict";
            /** @description Replaces the tools that the model sees with a single tool, `run_code`, whose code calls them. Results stay out of the conversation unless the code returns them. */
            codeMode?: boolean;
            description?: string;
            fallbacks?: components["schemas"]["ModelRef"][];
            /** @default  */
            instructions?: string;
            limits?: components["schemas"]["AgentLimits"];
            /** @description Also offers the made tools of the workspace whose inner tools the agent can use. Takes effect on the next turn. */
            made?: boolean;
            model: components["schemas"]["ModelRef"];
            /** @description Patterns of the only models that turns of the agent may use, after aliases. Absent: all. A turn with another one is rejected. */
            models?: components["schemas"]["ModelPatterns"];
            name: string;
            /**
             * @description How tool definitions are sent to the model: in the API’s tool fields, or in the prompt. Absent: the provider’s profile decides.
             * @enum {string}
             */
            protocol?: "native" | "text";
            settings?: components["schemas"]["AgentSettings"];
            /** @description Names of the skills that the agent may load. */
            skills?: string[];
            /** @description Requires approval before data is sent out of a conversation that contains private and untrusted content. Absent: the policy decides. `false` applies to the agent’s own toolset only, and needs an unbound key with scope `admin`; other keys then cannot change what the agent can do. */
            taint?: boolean;
            timeouts?: components["schemas"]["ModelTimeouts"];
            /** @description Allow-list of tool names in any spelling. Absent: all tools of the toolset; empty: none. */
            tools?: string[];
            /** @description The toolset whose tools the agent can use: the newest version, or a fixed version such as `demo@3`. */
            toolset?: components["schemas"]["ToolsetReference"];
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenFile: {
            path: string;
            size: number;
        };
        /**
         * @example {
         *       "tool": "made.find_and_replace",
         *       "version": 1,
         *       "uses": [
         *         "builtin.read_file",
         *         "builtin.write_file"
         *       ],
         *       "warnings": []
         *     }
         */
        WrittenMadeTool: {
            tool: string;
            /** @description Canonical names of the only tools that it may call. */
            uses: string[];
            version: number;
            warnings: components["schemas"]["Warning"][];
        };
        WrittenMember: {
            /** @description Restricts the member to these agents and to the tools that they use. Absent: all. */
            agents?: string[];
            email: string;
            name: string;
            /** @description `owner`: everything in the workspace. `editor`: uses and writes toolsets, agents and skills. `user`: chats and calls tools. `approver`: decides approvals in all sessions. */
            role: components["schemas"]["Role"];
            /** @description Restricts the member to these toolsets, as for a key. Absent: all, or those of `agents`. */
            toolsets?: string[];
            user: string;
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenModelAlias: {
            description?: string;
            /**
             * @description The model or the agent that requests with this name use.
             * @example groq/llama-3.3-70b-versatile
             */
            model: string;
            name: string;
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenPolicy: {
            rules: components["schemas"]["PolicyRule"][];
            /**
             * @description The taint rule: once a conversation has seen both private and untrusted content, sending data out requires approval. `ask` is the default; `off` is short for a rule `{decision: "allow", kind: "taint"}`. An agent may override it for itself.
             * @enum {string}
             */
            taint?: "ask" | "off";
            version: number;
            /** @description Names in rules that are not there, so that the rule matches nothing. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenProvider: {
            /** @description Name of the secret that contains the key. */
            apiKeySecret?: string;
            /**
             * Format: uri
             * @description Everything before `/chat/completions`, `/responses`, `/messages`, `/models/{model}:…` `/chat` (Cohere) or `/api/chat` (Ollama). Required for kind `openai-compatible`.
             * @example http://127.0.0.1:11434/v1
             */
            baseUrl?: string;
            hasApiKey: boolean;
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @enum {string} */
            kind: "openai" | "openai-compatible" | "openai-responses" | "anthropic" | "gemini" | "cohere" | "ollama" | "rehearsal";
            /** @description Models listed by `/v1/models`. */
            models?: string[];
            name: string;
            /** @description Per million tokens, by model; used to enforce `limits.maxCost` of an agent. */
            prices?: components["schemas"]["Prices"];
            profile?: components["schemas"]["ProviderProfile"];
            /**
             * @description `document`: written here. `settings`: from the settings of the service, such as `OPENAI_API_KEY`; a PUT of its name replaces it. `builtin`: cannot be changed.
             * @enum {string}
             */
            source: "document" | "settings" | "builtin";
            timeouts?: components["schemas"]["ModelTimeouts"];
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenSchedule: {
            /** @description The agent that runs the turns. */
            agent: string;
            /**
             * Format: date-time
             * @description The time of a single run, with its offset, as in `2026-12-24T18:00:00+01:00`.
             */
            at?: string;
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            /** @description Five fields, as in `0 9 * * 1-5`: minute, hour, day, month, weekday; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. If both day and weekday are given, either is enough; `+MON` requires both. `L` is the last day, `MON#2` the second Monday. */
            cron?: string;
            description?: string;
            /** @description Shown by GET; ignored on writes. */
            readonly hasCallbackSecret: boolean;
            /** @description Template of the agent’s input. `{{@time}}` is when the run was due, in UTC; `{{@schedule}}` is the name, and `{{@delivery}}` the id of the run. */
            input: string;
            /** @description The time between runs, such as `15m`. The first run is one interval after the write. */
            interval?: string;
            /** @description The newest run that was not skipped; null: none in the last 30 days. */
            readonly lastRun: components["schemas"]["Delivery"] | null;
            name: string;
            /** @description null: no further run, or paused. */
            readonly nextRunAt: string | null;
            /**
             * @description What happens to a run that is due before the previous one has ended: it is skipped, or runs afterwards. A run that waits for an approval has not ended.
             * @default skip
             * @enum {string}
             */
            overlap?: "skip" | "queue";
            /** @description Stops all runs. Runs that are due meanwhile are not made up for, queued runs are skipped, and an interval restarts when the schedule is resumed. */
            paused?: boolean;
            /**
             * @description Template of the session’s key; `{{@schedule}}` is one session for all runs. Absent: a new session for each run.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The time zone of `cron`, such as `Europe/Berlin`. Absent: UTC. */
            timeZone?: string;
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenSecret: {
            /** Format: date-time */
            createdAt: string;
            /** @description The only hosts that the secret may be sent to. */
            hosts: components["schemas"]["SecretHost"][];
            name: string;
            /** @description Canonical names of tools. If given, only these tools may use the secret. */
            tools?: string[];
            /** Format: date-time */
            updatedAt: string;
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "name": "weather",
         *       "kind": "static",
         *       "url": "https://tools.example.com/call",
         *       "trusted": false,
         *       "toolCount": 1,
         *       "held": 0,
         *       "warnings": []
         *     }
         */
        WrittenServer: {
            /** @description Arguments of the command. No shell interprets them. */
            args?: (string | {
                secret: string;
            } | components["schemas"]["HiddenValue"])[];
            /** @description The base URL of the operations. Absent: the first of `servers` in the document. */
            baseUrl?: string;
            /**
             * @description Instead of `url`: a program of this machine that speaks MCP on standard input and output. Only for a local Moniker.
             * @example npx
             */
            command?: string;
            /** @description The last connection to an MCP server. */
            connection?: components["schemas"]["ServerConnection"];
            /** @description The working folder. Absent: the home folder of the user, or `home` of the data folder if that is not writable. */
            cwd?: string;
            /** @description Environment variables, in addition to those that programs need: `PATH`, `HOME`, locale, proxies, and settings of package runners. A secret must be bound to the host `NAME.stdio`, where NAME is the name of the server. */
            env?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /**
             * @description `modern`: 2026-07-28 and nothing else. `legacy`: the revisions of 2025. `auto` (default): the first that the server supports, but a session of 2025 for a client of 2025 that can be asked during a call.
             * @enum {string}
             */
            era?: "auto" | "modern" | "legacy";
            /** @description Operations to skip, in the same form. */
            exclude?: string[];
            /** @description Sent with each request to the server. Secrets are sent unchanged (so a token is stored as `Bearer <token>`) and must be bound to the host of the URL. */
            headers?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Absent for a static server, which receives only calls. */
            health?: components["schemas"]["ServerHealth"];
            /** @description Number of held definitions, which cannot be called until they are accepted. */
            held: number;
            /** @description Operations to use: tool names, operation ids, tags as `tag:NAME`, or `METHOD /path` with `*`. Absent: all. */
            include?: string[];
            /**
             * @description The processes of the command. `session` (default): one for each MCP session and each session of a chat, and one for the calls of each API key without a session. `key`: one for each API key. `shared`: one for all, for programs that remember nothing of a call.
             * @enum {string}
             */
            instances?: "session" | "key" | "shared";
            /** @description Sent to models together with the tools, if the server is `trusted`. */
            instructions?: string;
            /** @enum {string} */
            kind: "static" | "mcp" | "openapi";
            name: string;
            oauth?: components["schemas"]["ServerOAuth"];
            /** @description Number of prompts, resources and templates of an MCP server, without held ones. */
            offers?: {
                /** @description Number of those that are not offered until they are accepted. */
                held: number;
                prompts: number;
                resources: number;
                resourceTemplates: number;
            };
            price?: components["schemas"]["ServerPrice"];
            /**
             * @description Added to the query of each request to the server. A secret is the value alone, and must be bound to the host of the URL. It replaces a parameter of the same name.
             * @example {
             *       "api_key": {
             *         "secret": "DOCS_KEY"
             *       }
             *     }
             */
            query?: {
                [key: string]: string | {
                    secret: string;
                } | components["schemas"]["HiddenValue"];
            };
            /** @description Returned when the server requests roots. `client`: those of the calling MCP client. Default: none. */
            roots?: {
                name?: string;
                uri: string;
            }[] | "client";
            /** @description Allows the server to request completions from the model of the calling MCP client. Default: false. */
            sampling?: boolean;
            /** @description The time for one response in milliseconds; 60000 by default. Each sign of life restarts it: a progress notification, a log message, the state of a task. A call ends after 24 hours in any case. */
            timeoutMs?: number;
            /** @description Number of listed definitions, without rejected ones. */
            toolCount: number;
            /**
             * @description `http`: Streamable HTTP. `sse`: the HTTP+SSE transport of 2024-11-05. `auto` (default): `http`, and `sse` for a server that has no endpoint for it.
             * @enum {string}
             */
            transport?: "auto" | "http" | "sse";
            trusted: boolean;
            /**
             * @description Changes of tools that are in force without a review. `compatible`: texts, and schemas that accept what callers sent before, with annotations that promise no less; new tools, unless they say that they are destructive. `accept`: all changes. `review`: none; each is held. Findings always take a review. Default: `accept` for what an administrator writes (the tools of a `static` server, the document and the selection of an `openapi` server); for what the server lists `compatible` if it is `trusted`, otherwise `review`.
             * @enum {string}
             */
            updates?: "review" | "compatible" | "accept";
            url?: string;
            /** @description Definitions that were skipped, held or changed for models, affected toolsets, and why the server could not be read. */
            warnings: components["schemas"]["Warning"][];
        };
        WrittenSkill: {
            /**
             * @description Patterns are stored, but grant no permissions.
             * @example [
             *       "Bash(git:*)"
             *     ]
             */
            allowedTools?: string[];
            compatibility?: string;
            description: string;
            license?: string;
            metadata?: {
                [key: string]: string;
            };
            name: string;
            requires?: string[];
            resources: {
                bytes: number;
                path: string;
            }[];
            version: number;
            warnings: components["schemas"]["Warning"][];
        };
        WrittenSubscription: {
            /** @description Only turns of these agents, and no messages about other things. Absent: all. */
            agents?: string[];
            description?: string;
            /** @description Absent: all events. */
            events?: components["schemas"]["TriggerEvent"][];
            hasSecret: boolean;
            name: string;
            /** @description No new messages are sent. */
            paused?: boolean;
            /** Format: uri */
            url: string;
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenSuite: {
            /** @description The cases themselves, in place of `select`. */
            cases?: components["schemas"]["SuiteCase"][];
            description?: string;
            name: string;
            /**
             * @description ReplayFacts that must hold for every case.
             * @default []
             */
            rules?: components["schemas"]["ReplayRule"][];
            /** @description Selects from the request log when a replay starts. */
            select?: components["schemas"]["SuiteSelection"];
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "aliases": [
         *         "shell",
         *         "terminal"
         *       ]
         *     }
         */
        WrittenToolAliases: {
            aliases: components["schemas"]["ToolsetAlias"][];
            /** @description Toolsets that keep their previous names. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "toolset": "demo",
         *       "version": 1,
         *       "warnings": []
         *     }
         */
        WrittenToolset: {
            toolset: string;
            version: number;
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "canonical": "ui.camera",
         *       "label": "Camera",
         *       "description": "Takes a photo.",
         *       "category": "upload",
         *       "triggers": [
         *         "photo"
         *       ]
         *     }
         */
        WrittenUiTool: {
            canonical: string;
            /** @example practice */
            category: string;
            description: string;
            href?: string;
            /** @description The label shown to the person. */
            label: string;
            /** @description Words or phrases in the conversation that suggest the tool. */
            triggers: string[];
            /** @description Toolsets that could not be updated. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenWebhook: {
            /** @description The agent that runs the turns. */
            agent: string;
            /** @description For scheme `bearer`. Absent: `Authorization: Bearer <secret>`. */
            bearer?: components["schemas"]["BearerSettings"];
            /**
             * Format: uri
             * @description Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).
             */
            callbackUrl?: string;
            description?: string;
            /** @description CEL over `event`, `payload` and `headers`, such as `event == "issues" && payload.action in ["opened", "edited"]`. Other events are stored as `ignored`, also if a field in the expression is missing; test for it with `has(payload.field)` or `"X-Kind" in headers`. */
            filter?: string;
            /** @description false: the first of its secrets signs callbacks. */
            readonly hasCallbackSecret: boolean;
            /** @description Shown by GET; ignored on writes. */
            readonly hasSecret: boolean;
            /** @description Required for scheme `hmac`, and only valid there. */
            hmac?: components["schemas"]["HmacSettings"];
            /** @description Template of the agent’s input: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}` with `{{this}}` and `{{@index}}`, `{{#if path}}…{{else}}…{{/if}}`. Values other than a single plain word are put between `<data>` and `</data>`. */
            input: string;
            name: string;
            /** @description Deliveries are stored as `ignored` and can be replayed. */
            paused?: boolean;
            /**
             * @description `sync`: waits up to 25 s and responds with the turn’s text.
             * @default async
             * @enum {string}
             */
            respond?: "async" | "sync";
            /** @description How deliveries are signed. */
            scheme: components["schemas"]["WebhookScheme"];
            /** @description Number of accepted secrets. */
            readonly secrets: number;
            /**
             * @description Template of the session’s key: deliveries with the same key share a session. Different values never make the same key: with `{{a}}:{{b}}`, `:` and `%` in `a` are percent-encoded. Absent: a new session for each delivery.
             * @default {{@delivery}}
             */
            session?: string;
            /** @description The URL for the sender. Only a path if MONIKER_PUBLIC_URL is not set. */
            readonly url: string;
            /** @description Problems with the stored document in the current workspace. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
        WrittenWorkspace: {
            /** @description null: the workspace `default`, which always exists. */
            createdAt: string | null;
            deletion?: components["schemas"]["WorkspaceDeletion"];
            name: string;
            /** @default {} */
            settings?: {
                /**
                 * @description An endpoint that is asked before each tool call and after each result, and may deny or change them. null: none.
                 * @default null
                 */
                guard?: components["schemas"]["Guard"] | null;
                /** @default {} */
                keys?: {
                    /**
                     * @description After how many days a new key expires whose request has no `expiresAt`. null: never.
                     * @default null
                     */
                    expiryDays?: number | null;
                };
                /**
                 * @description Limits of all keys, agents, webhooks and schedules of the workspace together.
                 * @default {}
                 */
                limits?: components["schemas"]["UsageLimits"];
                /**
                 * @description Patterns of the only models that all keys, people, agents, webhooks and schedules of the workspace may use. null: all.
                 * @default null
                 */
                models?: components["schemas"]["ModelPatterns"] | null;
                /**
                 * @description Further names of tools, as hidden aliases in every toolset that has the tool: name → any name of a tool. A name that a toolset uses itself is left out there.
                 * @default {}
                 * @example {
                 *       "flashcards": "create_flashcard",
                 *       "websearch": "search"
                 *     }
                 */
                nameMap?: {
                    [key: string]: string;
                };
                /**
                 * @description Rules for texts that are replaced by labels in results and logs. null: none.
                 * @default null
                 */
                redaction?: components["schemas"]["Redaction"] | null;
                /** @default {} */
                requestLog?: {
                    /**
                     * @description Whether `GET /v1/requests/{request}` has the bodies of requests without a turn and of their responses, which contain what people write. Switching it off deletes the stored ones.
                     * @default false
                     */
                    bodies?: boolean;
                };
                /** @default {} */
                retention?: {
                    /**
                     * @description How long rows of `GET /v1/audit` are kept.
                     * @default 90
                     */
                    auditDays?: number;
                    /**
                     * @description How long rows of `GET /v1/requests` are kept.
                     * @default 30
                     */
                    requestDays?: number;
                    /**
                     * @description Sessions that were not used for this long are deleted with their files. null: never.
                     * @default null
                     */
                    sessionDays?: number | null;
                    /**
                     * @description How long the daily figures of `GET /v1/usage` are kept.
                     * @default 400
                     */
                    usageDays?: number;
                    /**
                     * @description How many versions of a document are kept. Versions that something names are kept in any case.
                     * @default 100
                     */
                    versions?: number;
                };
            };
            /**
             * @description `deleting`: keys are refused, and the content is being erased. `deleted`: nothing is left; listed for 30 days.
             * @enum {string}
             */
            status: "active" | "deleting" | "deleted";
            /** @description Counts the writes of the settings. 0: none; all settings have their defaults. */
            version: number;
            /** @description Toolsets that leave a name of `nameMap` out, or keep their previous names; a guard that cannot be reached, or whose secret does not exist. Absent: none. */
            warnings?: components["schemas"]["Warning"][];
        };
    };
    responses: {
        AnthropicError4XX: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError5XX: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError400: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError401: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError403: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError404: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError409: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError413: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError415: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError422: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError429: {
            headers: {
                /** @description For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`). */
                ratelimit?: string;
                /** @description For a key with limits: each rate (`q`) with its window in seconds (`w`). */
                "ratelimit-policy"?: string;
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError500: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError502: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError503: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError504: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        AnthropicError508: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError"];
            };
        };
        OAuthError400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OAuthError401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OAuthError413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OAuthError415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OAuthError422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OAuthError429: {
            headers: {
                /** @description For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`). */
                ratelimit?: string;
                /** @description For a key with limits: each rate (`q`) with its window in seconds (`w`). */
                "ratelimit-policy"?: string;
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OAuthError500: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OAuthError503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        OpenAiError4XX: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError5XX: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError400: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError401: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError401_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError403: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError403_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError404: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError409: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError413: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError415: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError422: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError422_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError426: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError429: {
            headers: {
                /** @description For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`). */
                ratelimit?: string;
                /** @description For a key with limits: each rate (`q`) with its window in seconds (`w`). */
                "ratelimit-policy"?: string;
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError429_2: {
            headers: {
                /** @description For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`). */
                ratelimit?: string;
                /** @description For a key with limits: each rate (`q`) with its window in seconds (`w`). */
                "ratelimit-policy"?: string;
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError500: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError500_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError502: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError503: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError503_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError504: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        OpenAiError508: {
            headers: {
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description Of a failure of the provider: whether sending the request again can help. */
                "x-should-retry"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError"];
            };
        };
        Problem400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem400_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem401_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem403_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem404_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem409_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem412: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem413_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem415_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem422_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem429: {
            headers: {
                /** @description For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`). */
                ratelimit?: string;
                /** @description For a key with limits: each rate (`q`) with its window in seconds (`w`). */
                "ratelimit-policy"?: string;
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem429_2: {
            headers: {
                /** @description For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`). */
                ratelimit?: string;
                /** @description For a key with limits: each rate (`q`) with its window in seconds (`w`). */
                "ratelimit-policy"?: string;
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem500: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem500_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem502: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem502_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem503_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem504: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem504_2: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        Problem508: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        RpcError400: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError401: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError403: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError404: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError405: {
            headers: {
                /** @description The methods that it has. */
                allow?: string;
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError406: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError413: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError415: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError422: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError429: {
            headers: {
                /** @description For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`). */
                ratelimit?: string;
                /** @description For a key with limits: each rate (`q`) with its window in seconds (`w`). */
                "ratelimit-policy"?: string;
                /** @description Seconds after which the request may be sent again. */
                "retry-after"?: string;
                /** @description The time of `retry-after` in milliseconds. */
                "retry-after-ms"?: string;
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError500: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
        RpcError503: {
            headers: {
                /** @description The edition that was used, as `name@version.revision`. */
                "x-moniker-edition"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RpcError"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getStartPage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            500: components["responses"]["Problem500_2"];
        };
    };
    getAuthorizationServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getMcpResource: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getToolsetResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getWorkspaceToolsetResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSseResource: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getToolsetSseResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getWorkspaceSseResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getOpenIdConfiguration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    runAgUi: {
        parameters: {
            query?: never;
            header?: {
                /** @description With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422. */
                "idempotency-key"?: string;
                /** @description A session that stores the conversation; `new` creates one. Messages that it has stored may be sent again or omitted. Without this header, the ids of interrupts and messages, or else the last answer in the history, identify the session. */
                "x-moniker-session"?: string;
                /** @description A toolset whose tools run inside Moniker; the same as `toolset` in the body. */
                "x-moniker-toolset"?: string;
            };
            path: {
                /** @description Name of the agent. */
                agent: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunAgentInput"];
            };
        };
        responses: {
            /** @description A run, or its events (`text/event-stream`) with `stream: true`. In a session each event has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for logs; the stream cannot be resumed, and the turn continues without its reader. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the messages differ from those of the session. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
            508: components["responses"]["Problem508"];
        };
    };
    showApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Token of the link. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The complete call. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                    "text/html": string;
                };
            };
            404: components["responses"]["Problem404_2"];
            429: components["responses"]["Problem429_2"];
            500: components["responses"]["Problem500_2"];
        };
    };
    decideByLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Token of the link. */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkDecision"];
                "application/x-www-form-urlencoded": components["schemas"]["LinkDecision"];
            };
        };
        responses: {
            /** @description Decided. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinkDecided"];
                    "text/html": string;
                };
            };
            400: components["responses"]["Problem400_2"];
            403: components["responses"]["Problem403_2"];
            404: components["responses"]["Problem404_2"];
            409: components["responses"]["Problem409_2"];
            413: components["responses"]["Problem413_2"];
            415: components["responses"]["Problem415_2"];
            422: components["responses"]["Problem422_2"];
            429: components["responses"]["Problem429_2"];
            500: components["responses"]["Problem500_2"];
            503: components["responses"]["Problem503_2"];
        };
    };
    getPageFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Contains a hash of the content: a file never changes. */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/css": string;
                    "text/javascript": string;
                };
            };
            404: components["responses"]["Problem404"];
            500: components["responses"]["Problem500"];
        };
    };
    getPagesCss: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/css": string;
                };
            };
            500: components["responses"]["Problem500"];
        };
    };
    showConnect: {
        parameters: {
            query?: {
                /** @description The workspace, for users who are members of several. */
                workspace?: string;
            };
            header?: never;
            path: {
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description To the page under the public URL. */
            302: {
                headers: {
                    /** @description Its URL. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            404: components["responses"]["Problem404_2"];
            500: components["responses"]["Problem500_2"];
        };
    };
    startConnect: {
        parameters: {
            query?: {
                /** @description The workspace, for users who are members of several. */
                workspace?: string;
            };
            header?: never;
            path: {
                server: string;
            };
            cookie?: never;
        };
        /** @description The field `key`; empty for a person who is signed in. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": string;
            };
        };
        responses: {
            /** @description A page with the link to the authorization server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            401: components["responses"]["Problem401_2"];
            403: components["responses"]["Problem403_2"];
            404: components["responses"]["Problem404_2"];
            409: components["responses"]["Problem409_2"];
            413: components["responses"]["Problem413_2"];
            429: components["responses"]["Problem429_2"];
            500: components["responses"]["Problem500_2"];
            502: components["responses"]["Problem502_2"];
            503: components["responses"]["Problem503_2"];
            504: components["responses"]["Problem504_2"];
        };
    };
    getConsole: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            500: components["responses"]["Problem500_2"];
        };
    };
    getConsolePage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example chat */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["Problem404_2"];
            500: components["responses"]["Problem500_2"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            500: components["responses"]["Problem500_2"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: {
                /** @description 64 random hexadecimal digits. Only a Moniker on your own machine answers it: the command line checks who receives a key. */
                "x-moniker-challenge"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service is running. */
            200: {
                headers: {
                    /** @description The HMAC-SHA-256 of the challenge under the token of the launcher. */
                    "x-moniker-proof"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            422: components["responses"]["Problem422"];
            500: components["responses"]["Problem500"];
        };
    };
    receiveDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example triage */
                webhook: string;
                /** @example default */
                workspace: string;
            };
            cookie?: never;
        };
        /** @description JSON, a form or text in UTF-8, at most 1048576 bytes, exactly as signed. */
        requestBody: {
            content: {
                "*/*": string;
            };
        };
        responses: {
            /** @description With `respond: "sync"`: the result of the turn. Also the response to Slack’s URL verification. */
            200: {
                headers: {
                    /** @description URL of the session, if any. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnsweredDelivery"];
                    "text/plain": string;
                };
            };
            /** @description Stored. The turn starts, and is retried after a crash. */
            202: {
                headers: {
                    /** @description URL of the session, if any. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedDelivery"];
                };
            };
            400: components["responses"]["Problem400"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    listenEquippedMcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    sendEquippedMcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description An MCP JSON-RPC message of at most 1 MB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpMessage"];
            };
        };
        responses: {
            /** @description The MCP response: one message, or a stream of messages. */
            200: {
                headers: {
                    /** @description With `initialize` of the 2025 revisions: the id of the new session. */
                    "mcp-session-id"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpMessage"];
                    "text/event-stream": string;
                };
            };
            /** @description Accepted: a notification, or a response of the client. */
            202: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            413: components["responses"]["RpcError413"];
            415: components["responses"]["RpcError415"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    endEquippedMcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    listenMcp: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path: {
                toolset: components["schemas"]["ToolsetReference"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    sendMcp: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path: {
                toolset: components["schemas"]["ToolsetReference"];
            };
            cookie?: never;
        };
        /** @description An MCP JSON-RPC message of at most 1 MB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpMessage"];
            };
        };
        responses: {
            /** @description The MCP response: one message, or a stream of messages. */
            200: {
                headers: {
                    /** @description With `initialize` of the 2025 revisions: the id of the new session. */
                    "mcp-session-id"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpMessage"];
                    "text/event-stream": string;
                };
            };
            /** @description Accepted: a notification, or a response of the client. */
            202: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            413: components["responses"]["RpcError413"];
            415: components["responses"]["RpcError415"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    endMcp: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path: {
                toolset: components["schemas"]["ToolsetReference"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    listenWorkspaceMcp: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path: {
                toolset: components["schemas"]["ToolsetReference"];
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    sendWorkspaceMcp: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path: {
                toolset: components["schemas"]["ToolsetReference"];
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        /** @description An MCP JSON-RPC message of at most 1 MB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpMessage"];
            };
        };
        responses: {
            /** @description The MCP response: one message, or a stream of messages. */
            200: {
                headers: {
                    /** @description With `initialize` of the 2025 revisions: the id of the new session. */
                    "mcp-session-id"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpMessage"];
                    "text/event-stream": string;
                };
            };
            /** @description Accepted: a notification, or a response of the client. */
            202: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            413: components["responses"]["RpcError413"];
            415: components["responses"]["RpcError415"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    endWorkspaceMcp: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: {
                /** @description The MCP revision of the request. */
                "mcp-protocol-version"?: string;
                /** @description Session id for the 2025 revisions, as returned by `initialize`. */
                "mcp-session-id"?: string;
                /** @description The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset. */
                "x-moniker-session"?: string;
            };
            path: {
                toolset: components["schemas"]["ToolsetReference"];
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            405: components["responses"]["RpcError405"];
            406: components["responses"]["RpcError406"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text format of Prometheus, version 0.0.4. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getProjectSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON Schema, draft 2020-12. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": {
                        [key: string]: unknown;
                    };
                };
            };
            500: components["responses"]["Problem500"];
        };
    };
    showConsent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description To the sign-in. */
            303: {
                headers: {
                    /** @description Its path. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            403: components["responses"]["Problem403_2"];
            404: components["responses"]["Problem404_2"];
            422: components["responses"]["Problem422_2"];
            500: components["responses"]["Problem500_2"];
            503: components["responses"]["Problem503_2"];
        };
    };
    decideConsent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentDecision"];
                "application/x-www-form-urlencoded": components["schemas"]["ConsentDecision"];
            };
        };
        responses: {
            /** @description To the client. */
            303: {
                headers: {
                    /** @description With `code` or `error`. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["Problem400_2"];
            403: components["responses"]["Problem403_2"];
            404: components["responses"]["Problem404_2"];
            413: components["responses"]["Problem413_2"];
            415: components["responses"]["Problem415_2"];
            422: components["responses"]["Problem422_2"];
            429: components["responses"]["Problem429_2"];
            500: components["responses"]["Problem500_2"];
            503: components["responses"]["Problem503_2"];
        };
    };
    finishSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed in. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            404: components["responses"]["Problem404_2"];
            500: components["responses"]["Problem500_2"];
            502: components["responses"]["Problem502_2"];
        };
    };
    getClientMetadata: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    /** @description `no-cache`. */
                    "cache-control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientMetadata"];
                };
            };
            404: components["responses"]["Problem404"];
            500: components["responses"]["Problem500"];
        };
    };
    getSigningKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            500: components["responses"]["Problem500"];
        };
    };
    registerClient: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The metadata of the client, at most 16 kB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["OAuthClientMetadata"];
            };
        };
        responses: {
            /** @description Registered. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthMetadata"];
                };
            };
            400: components["responses"]["OAuthError400"];
            413: components["responses"]["OAuthError413"];
            415: components["responses"]["OAuthError415"];
            422: components["responses"]["OAuthError422"];
            429: components["responses"]["OAuthError429"];
            500: components["responses"]["OAuthError500"];
            503: components["responses"]["OAuthError503"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A form. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": string;
            };
        };
        responses: {
            /** @description Revoked, or it was not valid. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            400: components["responses"]["OAuthError400"];
            401: components["responses"]["OAuthError401"];
            413: components["responses"]["OAuthError413"];
            429: components["responses"]["OAuthError429"];
            500: components["responses"]["OAuthError500"];
            503: components["responses"]["OAuthError503"];
        };
    };
    redeemToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A form. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": string;
            };
        };
        responses: {
            /** @description Tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthTokens"];
                };
            };
            400: components["responses"]["OAuthError400"];
            401: components["responses"]["OAuthError401"];
            413: components["responses"]["OAuthError413"];
            429: components["responses"]["OAuthError429"];
            500: components["responses"]["OAuthError500"];
            503: components["responses"]["OAuthError503"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            500: components["responses"]["Problem500"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All checks succeeded. Otherwise the problem has `checks`, too. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showSignIn: {
        parameters: {
            query?: {
                /** @description Path of this service to return to, such as `/console`. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page, or the state. */
            200: {
                headers: {
                    /** @description The cookie, if Cloudflare Access has signed the person in. */
                    "set-cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInState"];
                    "text/html": string;
                };
            };
            /** @description Signed in by Cloudflare Access. */
            303: {
                headers: {
                    /** @description The path `to`. */
                    location?: string;
                    /** @description The cookie. */
                    "set-cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            500: components["responses"]["Problem500_2"];
        };
    };
    signInWithRootKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInForm"];
                "application/x-www-form-urlencoded": components["schemas"]["SignInForm"];
            };
        };
        responses: {
            /** @description Signed in. */
            303: {
                headers: {
                    /** @description The path `to`. */
                    location?: string;
                    /** @description The cookie. */
                    "set-cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["Problem400_2"];
            401: components["responses"]["Problem401_2"];
            403: components["responses"]["Problem403_2"];
            413: components["responses"]["Problem413_2"];
            415: components["responses"]["Problem415_2"];
            422: components["responses"]["Problem422_2"];
            429: components["responses"]["Problem429_2"];
            500: components["responses"]["Problem500_2"];
            503: components["responses"]["Problem503_2"];
        };
    };
    beginSignIn: {
        parameters: {
            query?: {
                /** @description Path of this service to return to. */
                to?: string;
            };
            header?: never;
            path: {
                /** @example google */
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the identity provider. */
            302: {
                headers: {
                    /** @description Its URL. */
                    location?: string;
                    /** @description What the return needs. */
                    "set-cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            403: components["responses"]["Problem403_2"];
            404: components["responses"]["Problem404_2"];
            500: components["responses"]["Problem500_2"];
            502: components["responses"]["Problem502_2"];
            503: components["responses"]["Problem503_2"];
            504: components["responses"]["Problem504_2"];
        };
    };
    endSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example google */
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed in. */
            303: {
                headers: {
                    /** @description The path `to`. */
                    location?: string;
                    /** @description The cookie. */
                    "set-cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            403: components["responses"]["Problem403_2"];
            404: components["responses"]["Problem404_2"];
            429: components["responses"]["Problem429_2"];
            500: components["responses"]["Problem500_2"];
            502: components["responses"]["Problem502_2"];
            503: components["responses"]["Problem503_2"];
            504: components["responses"]["Problem504_2"];
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed out. */
            303: {
                headers: {
                    /** @description `/sign-in`. */
                    location?: string;
                    /** @description The removed cookie. */
                    "set-cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["Problem403"];
            500: components["responses"]["Problem500"];
        };
    };
    openEquippedSse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream: the event `endpoint` with the path for messages, then an event `message` for each message of the server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    sendEquippedSse: {
        parameters: {
            query: {
                /** @description The connection, from the event `endpoint`. */
                sessionId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description An MCP JSON-RPC message of at most 1 MB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpMessage"];
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            413: components["responses"]["RpcError413"];
            415: components["responses"]["RpcError415"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    openSse: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream: the event `endpoint` with the path for messages, then an event `message` for each message of the server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    sendSse: {
        parameters: {
            query: {
                /** @description The connection, from the event `endpoint`. */
                sessionId: string;
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
            };
            cookie?: never;
        };
        /** @description An MCP JSON-RPC message of at most 1 MB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpMessage"];
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            413: components["responses"]["RpcError413"];
            415: components["responses"]["RpcError415"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    openWorkspaceSse: {
        parameters: {
            query?: {
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream: the event `endpoint` with the path for messages, then an event `message` for each message of the server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    sendWorkspaceSse: {
        parameters: {
            query: {
                /** @description The connection, from the event `endpoint`. */
                sessionId: string;
                /** @description What is listed of the toolset. Default: what its `mcpTools` says. A session has one value. */
                tools?: components["schemas"]["McpTools"];
            };
            header?: never;
            path: {
                toolset: components["schemas"]["ToolsetReference"];
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        /** @description An MCP JSON-RPC message of at most 1 MB. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpMessage"];
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["RpcError400"];
            401: components["responses"]["RpcError401"];
            403: components["responses"]["RpcError403"];
            404: components["responses"]["RpcError404"];
            413: components["responses"]["RpcError413"];
            415: components["responses"]["RpcError415"];
            422: components["responses"]["RpcError422"];
            429: components["responses"]["RpcError429"];
            500: components["responses"]["RpcError500"];
            503: components["responses"]["RpcError503"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of agents. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AgentView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getAgent: {
        parameters: {
            query?: {
                /** @description An earlier version. Keys that are bound to agents or toolsets cannot read it. */
                version?: number;
            };
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example demo */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewedAgent"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example demo */
                agent: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentToWrite"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenAgent"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the agent. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenAgent"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example demo */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example demo */
                agent: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenAgent"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getAgentImpact: {
        parameters: {
            query?: {
                cursor?: string;
                /** @description The days of the calls, with today. */
                days?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                agent: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentToWrite"];
            };
        };
        responses: {
            /** @description What would change. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentImpact"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listAgentVersions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions; read one with `?version=`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["DocumentVersion"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createUiMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422. */
                "idempotency-key"?: string;
                /** @description A session that stores the conversation; `new` creates one. Messages that it has stored may be sent again or omitted. Without this header, the ids of messages, or else the last answer in the history, identify the session. */
                "x-moniker-session"?: string;
                /** @description A toolset whose tools run inside Moniker; the same as `toolset` in the body. */
                "x-moniker-toolset"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UiChatRequest"];
            };
        };
        responses: {
            /** @description A stream of a UI message, or its chunks (`text/event-stream`) with `stream: true`. In a session each chunk has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for logs; the stream cannot be resumed, and the turn continues without its reader. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the messages differ from those of the session. */
                    "x-moniker-session"?: string;
                    /** @description `v1` */
                    "x-vercel-ai-ui-message-stream"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
            508: components["responses"]["Problem508"];
        };
    };
    listInbox: {
        parameters: {
            query?: {
                agent?: string;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                kind?: "approval" | "input" | "client-tool";
                limit?: number;
                session?: string;
                state?: "pending" | "decided";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of questions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["InboxItem"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createSpeech: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PassedRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    createTranscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A form as in the API of OpenAI, with `model`, of at most 26214400 bytes. */
        requestBody: {
            content: {
                "multipart/form-data": string;
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    createTranslation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A form as in the API of OpenAI, with `model`, of at most 26214400 bytes. */
        requestBody: {
            content: {
                "multipart/form-data": string;
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /**
                 * @description Name of the agent.
                 * @example helper
                 */
                agent?: string;
                code?: components["schemas"]["ToolResultCode"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /**
                 * @description Only entries of this time and later (ISO 8601).
                 * @example 2026-01-01T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Id of the key.
                 * @example root
                 */
                key?: string;
                /** @description `call`: calls and approval decisions; `change`: changes of keys, secrets, policy, servers, toolsets and so on. Default: both. */
                kind?: "call" | "change";
                limit?: number;
                session?: string;
                /**
                 * @description Only entries up to this time, inclusive.
                 * @example 2026-02-01T00:00:00Z
                 */
                to?: string;
                /**
                 * @description Canonical name, or the called name if it matched no tool.
                 * @example builtin.bash
                 */
                tool?: string;
                /** @description For a call: `ran`, `refused`, `waiting` (it needs an approval or an answer before it can continue) or `outcome_unknown` (it started, and no outcome is recorded: it is still running, or its outcome could not be written). For an approval decision: `approved`, `denied` or `expired`; the call has its own row. */
                verdict?: "ran" | "refused" | "outcome_unknown" | "waiting" | "approved" | "denied" | "expired";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of rows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["AuditCall"] | components["schemas"]["AuditChange"])[];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    verifyAudit: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditVerification"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    readBackup: {
        parameters: {
            query?: {
                /** @description `x-next-cursor` of the page before. Absent: a new archive begins. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of the archive, about 8 MB. */
            200: {
                headers: {
                    /** @description The cursor of the next page. Absent: the archive is complete. */
                    "x-next-cursor"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listCallbacks: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description Id of its delivery. */
                delivery?: string;
                /** @description Kind of the trigger or subscription that it is sent for. */
                kind?: "webhook" | "schedule" | "subscription";
                limit?: number;
                /** @description Name of the webhook, schedule or subscription; requires `kind`. */
                name?: string;
                /** @description `dead`: it could not be delivered, and is not retried automatically. */
                status?: components["schemas"]["CallbackStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of callbacks, with their attempts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Callback"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getCallback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the callback, as in its `webhook-id` header.
                 * @example msg_0123
                 */
                callback: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The callback. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackWithBody"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    retryCallback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the callback, as in its `webhook-id` header.
                 * @example msg_0123
                 */
                callback: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The attempt was queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Callback"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createChatCompletion: {
        parameters: {
            query?: never;
            header?: {
                /** @description With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422. */
                "idempotency-key"?: string;
                /** @description A session that stores the conversation; `new` creates one. Messages that it has stored may be sent again or omitted. Without this header, the ids of tool calls, or else the last answer in the history, identify the session. */
                "x-moniker-session"?: string;
                /** @description A toolset whose tools run inside Moniker; the same as `toolset` in the body. */
                "x-moniker-toolset"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description A completion, or its chunks (`text/event-stream`) with `stream: true`. In a session each chunk has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for GET /v1/chat/completions/{id}. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the messages differ from the stored ones. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    getChatCompletion: {
        parameters: {
            query?: {
                /**
                 * @description The `id:` of the last received frame. Default: `Last-Event-ID`, otherwise all frames.
                 * @example 12.1
                 */
                after?: string;
            };
            header?: {
                /** @description `text/event-stream`: return frames. */
                accept?: string;
                /** @description As browsers send it. An invalid id means from the start. */
                "last-event-id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description A completion, or its chunks (`text/event-stream`) with `stream: true`. In a session each chunk has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for GET /v1/chat/completions/{id}. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the messages differ from the stored ones. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
        };
    };
    listAllDeliveries: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description Only deliveries that were received at or after this time. */
                from?: string;
                limit?: number;
                /** @description Only deliveries with this status. */
                status?: components["schemas"]["DeliveryStatus"];
                /** @description Only deliveries to this webhook. */
                webhook?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["WebhookDelivery"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                        /** @description Requests to the same webhooks without a valid signature, by day, newest first; 30 days, at most 200 rows. */
                        refused: components["schemas"]["RefusedDeliveries"][];
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createEmbeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PassedRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    exportProject: {
        parameters: {
            query?: {
                format?: "json" | "yaml";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project. */
            200: {
                headers: {
                    /** @description A file name. */
                    "content-disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                    "application/yaml": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listGrants: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of grants. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Grant"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    endGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the grant. */
                grant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    editImage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A form as in the API of OpenAI, with `model`, of at most 26214400 bytes. */
        requestBody: {
            content: {
                "multipart/form-data": string;
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    createImage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PassedRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    createImageVariation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A form as in the API of OpenAI, with `model`, of at most 26214400 bytes. */
        requestBody: {
            content: {
                "multipart/form-data": string;
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    importFile: {
        parameters: {
            query?: {
                /** @description `true`: returns the plan, and stores nothing. */
                dryRun?: "true" | "false";
                /**
                 * @description The name of the file, with its folder. It helps to find out the format, and later imports under this name are compared with what the file gave before. Absent: the format stands for it.
                 * @example .cursor/mcp.json
                 */
                fileName?: string;
                /** @description Absent: it is found out from the content. */
                format?: "moniker" | "openapi" | "codex" | "litellm" | "bifrost" | "hypertool" | "docker-mcp" | "mcp-registry" | "opencode" | "vscode" | "zed" | "amp" | "goose" | "kiro" | "mcphub" | "gemini" | "copilot" | "continue" | "cline" | "cursor" | "windsurf" | "claude" | "portkey" | "albert" | "sisu" | "openai-functions" | "alias-map";
                /** @description `true`: documents that cannot be written are `skipped`, and the others are written. `false`: all or none. Absent: `true`, except for project files. */
                partial?: "true" | "false";
                /** @description `true`: stored documents of the same name are replaced. `false`: they are merged. Absent: `false`, except for project files. */
                replace?: "true" | "false";
                /**
                 * @description Instead of a body: where the service reads the file, without credentials. The host is public, or in `MONIKER_ALLOW_PRIVATE_HOSTS`; of redirects, too. The key needs the scope `admin`.
                 * @example https://api.example.com/openapi.json
                 */
                url?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The file itself, as JSON, YAML or a zip archive, whatever its media type. */
        requestBody: {
            content: {
                "*/*": string;
                "application/json": components["schemas"]["Project"];
            };
        };
        responses: {
            /** @description What was done, or the plan. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportReport"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            508: components["responses"]["Problem508"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys, without their secrets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Key"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyRequest"];
            };
        };
        responses: {
            /** @description Created. The key is returned only in this response. */
            201: {
                headers: {
                    /** @description URL of the key. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedKey"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a key, not the key. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, without its secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    revokeKey: {
        parameters: {
            query?: {
                cancel?: "true" | "false";
            };
            header?: never;
            path: {
                /** @description The id of a key, not the key. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description With `cancel=true`: revoked. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyCancellation"];
                };
            };
            /** @description Revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a key, not the key. */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a key, not the key. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** @description Rotated. The key is returned only in this response. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedKey"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listLimits: {
        parameters: {
            query?: {
                name?: string;
                of?: "workspace" | "key" | "agent";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All limits that are set, of at most 500 keys and 500 agents. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getMasterKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Fingerprints, and the progress of the newest rotation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MasterKeyState"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    resealWithMasterKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Started. `GET /v1/master-key` shows the progress. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MasterKeyState"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, without its secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listMyConnections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["OwnConnection"][];
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    connectServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The URL to open. */
            200: {
                headers: {
                    /** @description Only for a page of this service. */
                    "set-cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionStart"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    disconnectServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of members. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["MemberView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                member: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The member. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberView"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                member: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Member"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenMember"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the member. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenMember"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                member: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                member: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenMember"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same. */
                "anthropic-beta"?: string;
                /** @description Passed on if the request is sent unchanged to a provider of kind `anthropic`. */
                "anthropic-version"?: string;
                /** @description With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422. */
                "idempotency-key"?: string;
                /** @description A session that stores the conversation; `new` creates one. Messages that it has stored may be sent again or omitted. Without this header, the ids of tool calls, or else the last answer in the history, identify the session. */
                "x-moniker-session"?: string;
                /** @description A toolset whose tools run inside Moniker; the same as `toolset` in the body. */
                "x-moniker-toolset"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessagesRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["AnthropicError4XX"];
            "5XX": components["responses"]["AnthropicError5XX"];
            /** @description A message, or its events (`text/event-stream`) with `stream: true`. In a session each event has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for GET /v1/messages/{id}. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the messages differ from the stored ones. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageAnswer"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["AnthropicError400"];
            401: components["responses"]["AnthropicError401"];
            403: components["responses"]["AnthropicError403"];
            404: components["responses"]["AnthropicError404"];
            409: components["responses"]["AnthropicError409"];
            413: components["responses"]["AnthropicError413"];
            415: components["responses"]["AnthropicError415"];
            422: components["responses"]["AnthropicError422"];
            429: components["responses"]["AnthropicError429"];
            500: components["responses"]["AnthropicError500"];
            502: components["responses"]["AnthropicError502"];
            503: components["responses"]["AnthropicError503"];
            504: components["responses"]["AnthropicError504"];
            508: components["responses"]["AnthropicError508"];
        };
    };
    getMessage: {
        parameters: {
            query?: {
                /**
                 * @description The `id:` of the last received frame. Default: `Last-Event-ID`, otherwise all frames.
                 * @example 12.1
                 */
                after?: string;
            };
            header?: {
                /** @description `text/event-stream`: return frames. */
                accept?: string;
                /** @description As browsers send it. An invalid id means from the start. */
                "last-event-id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": components["responses"]["AnthropicError4XX"];
            "5XX": components["responses"]["AnthropicError5XX"];
            /** @description A message, or its events (`text/event-stream`) with `stream: true`. In a session each event has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for GET /v1/messages/{id}. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the messages differ from the stored ones. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageAnswer"];
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["AnthropicError401"];
            403: components["responses"]["AnthropicError403"];
            404: components["responses"]["AnthropicError404"];
            422: components["responses"]["AnthropicError422"];
            429: components["responses"]["AnthropicError429"];
            500: components["responses"]["AnthropicError500"];
            502: components["responses"]["AnthropicError502"];
            503: components["responses"]["AnthropicError503"];
            504: components["responses"]["AnthropicError504"];
        };
    };
    countMessageTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CountTokensRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["AnthropicError4XX"];
            "5XX": components["responses"]["AnthropicError5XX"];
            /** @description The count. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCount"];
                };
            };
            400: components["responses"]["AnthropicError400"];
            401: components["responses"]["AnthropicError401"];
            403: components["responses"]["AnthropicError403"];
            404: components["responses"]["AnthropicError404"];
            413: components["responses"]["AnthropicError413"];
            415: components["responses"]["AnthropicError415"];
            422: components["responses"]["AnthropicError422"];
            429: components["responses"]["AnthropicError429"];
            500: components["responses"]["AnthropicError500"];
            502: components["responses"]["AnthropicError502"];
            503: components["responses"]["AnthropicError503"];
            504: components["responses"]["AnthropicError504"];
            508: components["responses"]["AnthropicError508"];
        };
    };
    listModelAliases: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of model aliases. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ModelAliasView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getModelAlias: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model alias. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAliasView"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putModelAlias: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                alias: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelAlias"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenModelAlias"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the model alias. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenModelAlias"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteModelAlias: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchModelAlias: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                alias: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenModelAlias"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listModels: {
        parameters: {
            query?: {
                /** @description Only models of this provider; `moniker`: agents, `alias`: aliases. */
                provider?: string;
                /** @description Only ids that contain this text, in any case. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models that the key may use: those of an allow-list (`models` of the key, of the agent and of the workspace), if there is one. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example rehearsal/default */
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createModeration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PassedRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description The reply of the provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    getPolicy: {
        parameters: {
            query?: {
                /** @description An earlier version. Keys that are bound to agents or toolsets cannot read it. */
                version?: number;
            };
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules; empty and without `etag` if none were written. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policy"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Policy"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenPolicy"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the policy. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenPolicy"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deletePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. The defaults apply again. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenPolicy"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listKnownHosts: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, sorted by host. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["KnownHost"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    forgetKnownHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example api.example.com */
                host: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forgotten. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getPolicyImpact: {
        parameters: {
            query?: {
                /** @description The days of the calls, with today. */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Policy"];
            };
        };
        responses: {
            /** @description What would change. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyImpact"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    testPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyQuestion"];
            };
        };
        responses: {
            /** @description The verdict, in total and for each effect. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyAnswer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listPolicyVersions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions; read one with `?version=`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["DocumentVersion"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listPrograms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The processes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ServerProcess"][];
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    checkPrograms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    programs: {
                        /** @description Identifies what runs, with its secrets; made with the launcher’s token. */
                        key: string;
                        server: string;
                        /** @example acme */
                        workspace: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description The keys of the programs that are to end. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        unwanted: string[];
                    };
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listProjects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All projects. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example site */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectView"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putProject: {
        parameters: {
            query?: {
                /** @description `true`: returns the plan, and stores nothing. */
                dryRun?: "true" | "false";
                /** @description `true`: also replaces and removes documents that others wrote or changed since. */
                force?: "true" | "false";
                /** @description `true`: changed toolsets get deprecated aliases for the names and arguments of the last 30 days that they would lose, as `impact` of the plan counts them. */
                mend?: "true" | "false";
                /** @description `true`: removes documents that the project created and no longer has. */
                prune?: "true" | "false";
            };
            header?: {
                /** @description The `ETag` of a dry run. If the request would do something else by now: 412. */
                "if-match"?: string;
            };
            path: {
                /** @example site */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Project"];
            };
        };
        responses: {
            /** @description What was done, or the plan. */
            200: {
                headers: {
                    /** @description Identifies the plan: what the request does to which versions. */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectReport"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteProject: {
        parameters: {
            query?: {
                /** @description `true`: removes the documents that the project created. */
                documents?: "true" | "false";
                /** @description `true`: returns the plan, and stores nothing. */
                dryRun?: "true" | "false";
                /** @description `true`: also replaces and removes documents that others wrote or changed since. */
                force?: "true" | "false";
            };
            header?: {
                /** @description The `ETag` of a dry run. If the request would do something else by now: 412. */
                "if-match"?: string;
            };
            path: {
                /** @example site */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was done, or the plan. */
            200: {
                headers: {
                    /** @description Identifies the plan: what the request does to which versions. */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectReport"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listProviders: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of providers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ProviderView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The provider. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderView"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Provider"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenProvider"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the provider. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenProvider"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenProvider"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listReplays: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
                suite?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of replays. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ListedReplay"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    startReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with this key and the same body returns the first response, also while the first request is still running; with a different body it returns 422. Valid for 24 hours, per API key. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            /** @description Stored and running. */
            202: {
                headers: {
                    /** @description URL of the replay. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a replay. */
                replay: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a replay. */
                replay: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    cancelReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a replay. */
                replay: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listReplayCases: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
                status?: components["schemas"]["ReplayCaseStatus"];
            };
            header?: never;
            path: {
                /** @description Id of a replay. */
                replay: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of cases, in the order of their numbers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ReplayCase"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getReplayCase: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                number: string;
                /** @description Id of a replay. */
                replay: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The case with both sides. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayCaseDetail"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    followReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description As browsers send it. An invalid number means from the start. */
                "last-event-id"?: string;
            };
            path: {
                /** @description Id of a replay. */
                replay: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    exportReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a replay. */
                replay: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cases. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listRequests: {
        parameters: {
            query?: {
                agent?: string;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                from?: string;
                /** @description Id of a key, or `me`. A key without the scope `admin` sees only its own calls. */
                key?: string;
                /** @description `request`: a request that was sent to a provider without a turn. */
                kind?: "request" | "turn";
                limit?: number;
                /** @description As requested: `<provider>/<model>`. */
                model?: string;
                provider?: string;
                /** @description An `x-request-id`. */
                requestId?: string;
                session?: string;
                status?: "completed" | "failed" | "cancelled" | "interrupted" | "waiting";
                /** @description Exclusive. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of rows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RequestEntry"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the row, or an `x-request-id`, whose newest row is returned. */
                request: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The row. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoggedRequest"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    connectResponses: {
        parameters: {
            query?: never;
            header?: {
                /** @description With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422. */
                "idempotency-key"?: string;
                /** @description A session that stores the conversation; `new` creates one. Items that it has stored may be sent again or omitted. Without this header, `previous_response_id` and the ids of calls, or else the last answer in the history, identify the session. */
                "x-moniker-session"?: string;
                /** @description A toolset whose tools run inside Moniker; the same as `toolset` in the body. */
                "x-moniker-toolset"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The WebSocket is open. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["OpenAiError401_2"];
            403: components["responses"]["OpenAiError403_2"];
            422: components["responses"]["OpenAiError422_2"];
            426: components["responses"]["OpenAiError426"];
            429: components["responses"]["OpenAiError429_2"];
            500: components["responses"]["OpenAiError500_2"];
            503: components["responses"]["OpenAiError503_2"];
        };
    };
    createResponse: {
        parameters: {
            query?: never;
            header?: {
                /** @description With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422. */
                "idempotency-key"?: string;
                /** @description A session that stores the conversation; `new` creates one. Items that it has stored may be sent again or omitted. Without this header, `previous_response_id` and the ids of calls, or else the last answer in the history, identify the session. */
                "x-moniker-session"?: string;
                /** @description A toolset whose tools run inside Moniker; the same as `toolset` in the body. */
                "x-moniker-toolset"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponsesRequest"];
            };
        };
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description A Response, or its events (`text/event-stream`) with `stream: true`. In a session each event has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for GET /v1/responses/{id} and `previous_response_id`. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the request continues from an older response, or the items differ. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            415: components["responses"]["OpenAiError415"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
            508: components["responses"]["OpenAiError508"];
        };
    };
    getResponse: {
        parameters: {
            query?: {
                /**
                 * @description The `id:` of the last received frame. Default: `Last-Event-ID`, otherwise all frames.
                 * @example 12.1
                 */
                after?: string;
                /**
                 * @description The `sequence_number` of the last received event. Send either this or `after`.
                 * @example 12
                 */
                starting_after?: number;
                /** @description `true`: return its events. */
                stream?: "true" | "false";
            };
            header?: {
                /** @description `text/event-stream`: return frames. */
                accept?: string;
                /** @description As browsers send it. An invalid id means from the start. */
                "last-event-id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description A Response, or its events (`text/event-stream`) with `stream: true`. In a session each event has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for GET /v1/responses/{id} and `previous_response_id`. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the request continues from an older response, or the items differ. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
        };
    };
    cancelResponse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": components["responses"]["OpenAiError4XX"];
            "5XX": components["responses"]["OpenAiError5XX"];
            /** @description A Response, or its events (`text/event-stream`) with `stream: true`. In a session each event has an `id:`. */
            200: {
                headers: {
                    /** @description The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses. */
                    "x-moniker-api"?: string;
                    /** @description The id of the completion, for GET /v1/responses/{id} and `previous_response_id`. */
                    "x-moniker-completion"?: string;
                    /** @description What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing. */
                    "x-moniker-dropped"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls. */
                    "x-moniker-recovered"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    /** @description The session that was used; differs from the requested one if the request continues from an older response, or the items differ. */
                    "x-moniker-session"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            502: components["responses"]["OpenAiError502"];
            503: components["responses"]["OpenAiError503"];
            504: components["responses"]["OpenAiError504"];
        };
    };
    getRestore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestoreState"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    restoreWorkspace: {
        parameters: {
            query?: {
                /** @description `true`: with the first line, first delete everything in a workspace that is not empty. */
                replace?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Lines of an archive. */
        requestBody: {
            content: {
                "application/jsonl": string;
            };
        };
        responses: {
            /** @description The state after these lines. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestoreState"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    abandonRestore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestoreState"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of schedules. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ScheduleView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewedSchedule"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleToWrite"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSchedule"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the schedule. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSchedule"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSchedule"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listScheduleTimes: {
        parameters: {
            query?: {
                /** @description Maximum number of times. */
                count?: number;
            };
            header?: never;
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Earliest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleTimes"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    previewScheduleTimes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleTimesPreview"];
            };
        };
        responses: {
            /** @description Earliest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleTimes"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    runSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Stored. The turn starts, and is retried after a crash. */
            202: {
                headers: {
                    /** @description URL of the session, if any. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedDelivery"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listScheduleRuns: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
                /** @description Only runs with this status. */
                status?: components["schemas"]["DeliveryStatus"];
            };
            header?: never;
            path: {
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Delivery"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getScheduleRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: the time when it was due, or `manual-…`.
                 * @example 2026-03-09T08:00:00.000Z
                 */
                run: string;
                /** @example morning */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run and its status. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSecrets: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of secrets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SecretView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                secret: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretView"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                secret: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Secret"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSecret"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the secret. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSecret"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                secret: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                secret: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSecret"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listServers: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of servers, without their tools. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ServerSummary"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerView"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putServer: {
        parameters: {
            query?: {
                /** @description `true`: validate and list it as a new server without storing it. */
                dryRun?: "true" | "false";
            };
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Server"];
            };
        };
        responses: {
            /** @description Replaced, unchanged, or validated. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenServer"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the server. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenServer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteServer: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchServer: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenServer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    acceptServerTools: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkDecision"];
            };
        };
        responses: {
            /** @description What was decided, and what was left and why. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecidedTools"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    authorizeServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Begun. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignIn"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    forgetServerAuthorization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listServerConnections: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["UserConnection"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    removeServerConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the key or user.
                 * @example user-ada
                 */
                key: string;
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listServerOffers: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, by kind and name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ReviewedOffer"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    acceptServerOffer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptOffer"];
            };
        };
        responses: {
            /** @description Its current state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewedOffer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    rejectServerOffer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RejectOffer"];
            };
        };
        responses: {
            /** @description Its current state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewedOffer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    undoServerOfferDecision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoOffer"];
            };
        };
        responses: {
            /** @description Its current state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewedOffer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    refreshServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes in the listing. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListingReport"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    rejectServerTools: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkDecision"];
            };
        };
        responses: {
            /** @description What was decided, and what was left and why. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecidedTools"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    testServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Server"];
            };
        };
        responses: {
            /** @description The test result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerTest"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listServerTools: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @example weather */
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tools, by name, including those that the server no longer lists. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ServerTool"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getServerTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
                /**
                 * @description The tool’s own name, without the server’s.
                 * @example get_weather
                 */
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerTool"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    acceptServerTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
                /**
                 * @description The tool’s own name, without the server’s.
                 * @example get_weather
                 */
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcceptRequest"];
            };
        };
        responses: {
            /** @description The current state of the tool. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecidedTool"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getServerToolImpact: {
        parameters: {
            query?: {
                /** @description The days of the calls, with today. */
                days?: number;
            };
            header?: never;
            path: {
                /** @example weather */
                server: string;
                /**
                 * @description The tool’s own name, without the server’s.
                 * @example get_weather
                 */
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What accepting would have done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefinitionImpact"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    rebindServerTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
                /**
                 * @description The tool’s own name, without the server’s.
                 * @example get_weather
                 */
                tool: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RebindRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rebound"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    rejectServerTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
                /**
                 * @description The tool’s own name, without the server’s.
                 * @example get_weather
                 */
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RejectRequest"];
            };
        };
        responses: {
            /** @description The current state of the tool. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecidedTool"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    undoServerToolDecision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example weather */
                server: string;
                /**
                 * @description The tool’s own name, without the server’s.
                 * @example get_weather
                 */
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UndoRequest"];
            };
        };
        responses: {
            /** @description The current state of the tool. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecidedTool"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                agent?: string;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
                status?: "idle" | "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
                /**
                 * @description Only sessions that this trigger started, or any of its kind.
                 * @example webhook:triage
                 */
                trigger?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SessionRow"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with this key and the same body returns the first response, also while the first request is still running; with a different body it returns 422. Valid for 24 hours, per API key. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionRequest"];
            };
        };
        responses: {
            /** @description Created. Only its key and unbound keys with scope `admin` can access it. */
            201: {
                headers: {
                    /** @description URL of the session. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session and its newest turn. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listApprovals: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pending approvals. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Approval"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the waiting call. */
                callId: string;
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The approval with all arguments and its state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    decideApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the waiting call. */
                callId: string;
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionRequest"];
            };
        };
        responses: {
            /** @description Stored. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionAnswer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    mintApprovalLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the waiting call. */
                callId: string;
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalLink"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    cancelTurn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description `cancelled` is false if no turn was running. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelAnswer"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this number. Default: `Last-Event-ID`, otherwise all.
                 * @example 0
                 */
                after?: string;
                /** @description With `follow=false`: only events before this number. */
                before?: string;
                /** @description `false`: respond with one page as JSON. */
                follow?: "true" | "false";
                /** @description With `follow=false`: the most events of the page. Default 100. */
                limit?: number;
            };
            header?: {
                /** @description As browsers send it. An invalid number means from the start. */
                "last-event-id"?: string;
            };
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listFiles: {
        parameters: {
            query?: {
                /** @description `true`: include subdirectories. Only for a directory. */
                recursive?: "true" | "false";
            };
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DirectoryListing"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    readFile: {
        parameters: {
            query?: {
                /** @description `true`: include subdirectories. Only for a directory. */
                recursive?: "true" | "false";
            };
            header?: {
                /** @description A known `ETag`: returns 304 if the file still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @description Id of a session. */
                id: string;
                /**
                 * @description Relative to `/workspace`, which may be included; absolute if it starts with a slash.
                 * @example notes.txt
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes of a file (`application/octet-stream`), or the entries of a directory (JSON). */
            200: {
                headers: {
                    /** @description For a file: equal bytes have an equal tag. */
                    etag?: string;
                    /** @description For a file. */
                    "last-modified"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DirectoryListing"];
                    "application/octet-stream": string;
                };
            };
            /** @description The file has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description The tag of the file. */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    writeFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @description Id of a session. */
                id: string;
                /**
                 * @description Relative to `/workspace`, which may be included; absolute if it starts with a slash.
                 * @example notes.txt
                 */
                path: string;
            };
            cookie?: never;
        };
        /** @description The bytes, with any content type, at most 16777216. */
        requestBody: {
            content: {
                "*/*": string;
            };
        };
        responses: {
            /** @description Replaced. */
            200: {
                headers: {
                    /** @description Hash of the bytes: equal bytes have an equal tag. */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenFile"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description Hash of the bytes: equal bytes have an equal tag. */
                    etag?: string;
                    /** @description URL of the file. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenFile"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
            };
            path: {
                /** @description Id of a session. */
                id: string;
                /**
                 * @description Relative to `/workspace`, which may be included; absolute if it starts with a slash.
                 * @example notes.txt
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
                /** @description `desc`: newest first. */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of messages. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["TranscriptMessage"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSessionPrompts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The prompts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPrompts"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    sendToolResults: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolResultRequest"] | components["schemas"]["InputAnswers"] | {
                    results: components["schemas"]["ToolResultRequest"][];
                };
            };
        };
        responses: {
            /** @description Stored. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResultsTaken"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createTurn: {
        parameters: {
            query?: never;
            header?: {
                /** @description `text/event-stream`: the events of this turn. */
                accept?: string;
                /** @description A repeated request with this key and the same body returns the first response, also while the first request is still running; with a different body it returns 422. Valid for 24 hours, per API key. */
                "idempotency-key"?: string;
                /** @description `respond-async`: respond 202 when it is stored. */
                prefer?: string;
            };
            path: {
                /** @description Id of a session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TurnRequest"];
            };
        };
        responses: {
            /** @description The result of the turn, or what it waits for, or its events (`text/event-stream`), which close after a waiting event. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnAnswer"];
                    "text/event-stream": string;
                };
            };
            /** @description Stored and running. `location` is the session, which shows the result. */
            202: {
                headers: {
                    /** @description URL of the session. */
                    location?: string;
                    /** @description `respond-async`. */
                    "preference-applied"?: string;
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    /** @description Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`. */
                    "x-moniker-replaced-tools"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnAccepted"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    listSkills: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of skills, without their content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SkillSummary"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example release-notes */
                skill: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill with its resources. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example release-notes */
                skill: string;
            };
            cookie?: never;
        };
        /** @description JSON, or a zip archive with SKILL.md at the top level or in its only top-level folder. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Skill"];
                "application/zip": string;
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSkill"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the skill. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSkill"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example release-notes */
                skill: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSkillResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Path relative to the skill’s folder.
                 * @example scripts/changes.sh
                 */
                path: string;
                /** @example release-notes */
                skill: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes of the file. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSubscriptions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of subscriptions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SubscriptionView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example operations */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewedSubscription"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example operations */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionToWrite"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSubscription"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the subscription. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSubscription"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example operations */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example operations */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSubscription"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    testSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example operations */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackTest"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSuites: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of suites. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SuiteView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getSuite: {
        parameters: {
            query?: {
                /** @description An earlier version. Keys that are bound to agents or toolsets cannot read it. */
                version?: number;
            };
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example support */
                suite: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The suite. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteView"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putSuite: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example support */
                suite: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Suite"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSuite"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the suite. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSuite"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteSuite: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example support */
                suite: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchSuite: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example support */
                suite: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenSuite"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSuiteCases: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @example support */
                suite: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of cases. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SelectedCase"][];
                        /** @description What matched and is on no page so far: it is beyond the limit of the suite, of which at most 1,000 are counted, or its session could not be read. On the last page, of all. */
                        left: number;
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSuiteVersions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @example support */
                suite: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions; read one with `?version=`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["DocumentVersion"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listTools: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description `summary`: without schemas. */
                fields?: "all" | "summary";
                /** @description Only tools of this kind. */
                kind?: "builtin" | "local" | "mcp" | "openapi" | "static" | "made" | "client" | "ui";
                limit?: number;
                /**
                 * @description Only made tools that are private to this key: its id, or `me`. Those of another key or a trigger (`webhook:NAME`, `schedule:NAME`) require an administrator key of the whole workspace.
                 * @example me
                 */
                owner?: string;
                /**
                 * @description Words. Each must occur in the canonical name, a default alias or the description, in any case.
                 * @example read file
                 */
                q?: string;
                /** @description Only tools of this server, such as `builtin`. */
                server?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tools, by canonical name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ListedTool"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getTool: {
        parameters: {
            query?: {
                /**
                 * @description Only made tools that are private to this key: its id, or `me`. Those of another key or a trigger (`webhook:NAME`, `schedule:NAME`) require an administrator key of the whole workspace.
                 * @example me
                 */
                owner?: string;
                /** @description An earlier version. Keys that are bound to agents or toolsets cannot read it. */
                version?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Canonical name.
                 * @example builtin.bash
                 */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool as its source describes it. A made tool or a UI tool has an ETag, for conditional writes. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tool"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putTool: {
        parameters: {
            query?: {
                /** @description `true`: validate without storing. */
                dryRun?: "true" | "false";
            };
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /**
                 * @description Canonical name.
                 * @example made.find_and_replace
                 */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MadeTool"] | components["schemas"]["UiTool"];
            };
        };
        responses: {
            /** @description Replaced, unchanged, or validated. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenMadeTool"] | components["schemas"]["WrittenUiTool"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the tool. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenMadeTool"] | components["schemas"]["WrittenUiTool"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteTool: {
        parameters: {
            query?: {
                /**
                 * @description Only made tools that are private to this key: its id, or `me`. Those of another key or a trigger (`webhook:NAME`, `schedule:NAME`) require an administrator key of the whole workspace.
                 * @example me
                 */
                owner?: string;
            };
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example ui.camera */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getToolAliases: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /**
                 * @description Canonical name.
                 * @example builtin.bash
                 */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The aliases set here, otherwise the tool’s own (without ETag). */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolAliases"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putToolAliases: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /**
                 * @description Canonical name.
                 * @example builtin.bash
                 */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolAliases"];
            };
        };
        responses: {
            /** @description Set. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenToolAliases"];
                };
            };
            /** @description Set for the first time. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the aliases. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenToolAliases"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteToolAliases: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /**
                 * @description Canonical name.
                 * @example builtin.bash
                 */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getToolImpact: {
        parameters: {
            query?: {
                /** @description The days of the calls, with today. */
                days?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Canonical name.
                 * @example made.find_and_replace
                 */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MadeTool"];
            };
        };
        responses: {
            /** @description What the draft would have done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefinitionImpact"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listToolVersions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Canonical name.
                 * @example builtin.bash
                 */
                canonical: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions; read one with `?version=`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["DocumentVersion"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listToolsets: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of toolsets, without their tools. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ToolsetSummary"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getToolset: {
        parameters: {
            query?: {
                /** @description A version number. Default: the newest. */
                version?: number;
            };
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetView"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putToolset: {
        parameters: {
            query?: {
                /** @description `true`: validate without storing. */
                dryRun?: "true" | "false";
            };
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolsetBody"];
            };
        };
        responses: {
            /** @description Replaced, unchanged, or validated. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenToolset"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the toolset. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenToolset"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteToolset: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchToolset: {
        parameters: {
            query?: {
                /** @description `true`: validate without storing. */
                dryRun?: "true" | "false";
            };
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenToolset"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    callTool: {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
                /** @description A version number. Default: the newest. */
                version?: number;
            };
            header?: {
                /** @description A repeated request with this key and the same body returns the first response, also while the first request is still running; with a different body it returns 422. Valid for 24 hours, per API key. */
                "idempotency-key"?: string;
            };
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallRequest"];
            };
        };
        responses: {
            /** @description The result of the call, or of the dry run. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallAnswer"] | components["schemas"]["DryRunAnswer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    diffToolset: {
        parameters: {
            query?: {
                /** @description Default: the version before `to`. */
                from?: number;
                /** @description Default: the newest version. */
                to?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What changed from `from` to `to`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetDiff"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getToolsetImpact: {
        parameters: {
            query?: {
                cursor?: string;
                /** @description The days of the calls, with today. */
                days?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolsetBody"];
            };
        };
        responses: {
            /** @description What would change. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetImpact"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    previewToolset: {
        parameters: {
            query?: {
                /** @description Show them as sent to the model of an agent with `codeMode`: one tool, and declarations in the prompt. */
                codeMode?: "true" | "false";
                /** @description Known properties of this model are applied as well. */
                model?: string;
                /** @description A configured provider, a kind, or `text` for models that receive tools in the prompt. */
                provider?: string;
            };
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolsetBody"];
            };
        };
        responses: {
            /** @description The draft as far as it is valid, and its faults. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetPreview"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    resolveToolName: {
        parameters: {
            query: {
                /** @example Shell */
                name: string;
                /** @description A version number. Default: the newest. */
                version?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool, and how the name matched. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedName"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    rollBackToolset: {
        parameters: {
            query?: {
                /** @description `true`: validate without storing. */
                dryRun?: "true" | "false";
            };
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rollback"];
            };
        };
        responses: {
            /** @description Written, unchanged, or validated. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenToolset"];
                };
            };
            /** @description The removed toolset was restored. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the toolset. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenToolset"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getToolsetSuggestions: {
        parameters: {
            query?: {
                /** @description The days of the calls, with today. */
                days?: number;
                /** @description How often a name must have been seen. */
                least?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the calls suggest. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetSuggestions"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listToolsetTools: {
        parameters: {
            query?: {
                /** @description Show them as sent to the model of an agent with `codeMode`: one tool, and declarations in the prompt. */
                codeMode?: "true" | "false";
                /** @description Known properties of this model are applied as well. */
                model?: string;
                /** @description A configured provider, a kind, or `text` for models that receive tools in the prompt. */
                provider?: string;
                /** @description A version number. Default: the newest. */
                version?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tools, in the order they are sent. */
            200: {
                headers: {
                    /** @description The edition that was used, as `name@version.revision`. */
                    "x-moniker-edition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetTools"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listToolsetUses: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At most 200 of each kind, by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetUses"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listToolsetVersions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions; read one with `?version=`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["DocumentVersion"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    retireToolsetVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
                /** @example 1 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current state of the version. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetiredVersion"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    restoreToolsetVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example demo */
                toolset: string;
                /** @example 1 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current state of the version. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetiredVersion"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                agent?: string;
                /**
                 * @description The dimensions of a group, at most 4: day, key, agent, provider, model, toolset, tool, requested, via. `tool` counts calls of tools, which have no model; `requested` and `via` by the name that was called, also names that are no tool.
                 * @example day,model
                 */
                by?: string;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description First day (UTC). Default: 30 days before `to`. */
                from?: string;
                /** @description Id of a key, or `me`. A key without the scope `admin` sees only its own calls. */
                key?: string;
                limit?: number;
                /** @description `<provider>/<model>`. */
                model?: string;
                provider?: string;
                /** @description Last day (UTC), inclusive. Default: today. */
                to?: string;
                /** @description Canonical name; with `by` containing `tool`. */
                tool?: string;
                toolset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Groups, sorted by the dimensions of `by`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date */
                        from: string;
                        items: components["schemas"]["UsageRow"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                        /** Format: date */
                        to: string;
                        /** @description Of all groups, on all pages. */
                        totals: components["schemas"]["UsageTotals"];
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhooks. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["WebhookView"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewedWebhook"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookToWrite"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenWebhook"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the webhook. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenWebhook"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenWebhook"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
                /** @description Only deliveries with this status. */
                status?: components["schemas"]["DeliveryStatus"];
            };
            header?: never;
            path: {
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["DeliveryWithPayload"][];
                        /** @description null on the last page. */
                        nextCursor: string | null;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the delivery, URL-encoded.
                 * @example 72d3162e-cc78-11e3-81ab-4c9367dc0958
                 */
                delivery: string;
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery with its payload and status. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryWithPayload"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    replayDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the delivery, URL-encoded.
                 * @example 72d3162e-cc78-11e3-81ab-4c9367dc0958
                 */
                delivery: string;
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Stored. The turn starts, and is retried after a crash. */
            202: {
                headers: {
                    /** @description URL of the session, if any. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedDelivery"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example triage */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookTest"];
            };
        };
        responses: {
            /** @description The test result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTestAnswer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listWorkspaces: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Workspaces, sorted by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspacePage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description A known `ETag`: the response is 304 if the document still has it. */
                "if-none-match"?: string;
            };
            path: {
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings with their defaults; without `etag` if none were written. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceView"];
                };
            };
            /** @description The document has the `ETag` of `If-None-Match`. */
            304: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    putWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*` if the document must exist. Otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the document must not exist yet. Otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Workspace"];
            };
        };
        responses: {
            /** @description Replaced or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenWorkspace"];
                };
            };
            /** @description Created, or written for the first time. */
            201: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    /** @description URL of the workspace. */
                    location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenWorkspace"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The deletion has begun, or was requested before. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceView"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    patchWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched. */
                "if-match"?: string;
            };
            path: {
                /** @example acme */
                workspace: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergePatch"];
                "application/merge-patch+json": components["schemas"]["MergePatch"];
            };
        };
        responses: {
            /** @description Changed or unchanged. */
            200: {
                headers: {
                    /** @description `"<version>"` */
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenWorkspace"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            412: components["responses"]["Problem412"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
}
