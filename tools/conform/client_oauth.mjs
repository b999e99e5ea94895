// OAuth clients of npm at the authorization server, driven by client_oauth.py: each story prints a
// line `open URL` where a person has to decide, and reads the address to which that person was sent
// back; a line `token TOKEN` has the token tried at the store. Needs oauth4webapi, openid-client and
// simple-oauth2; NODE_EXTRA_CA_CERTS names the authority.
//
//     node client_oauth.mjs STORY ISSUER CLIENT_ID CLIENT_SECRET DEVICE_CLIENT SERVICE_ID SERVICE_SECRET
import readline from 'node:readline'

const [story, issuer, clientId, clientSecret, deviceId, serviceId, serviceSecret] = process.argv.slice(2)
const callback = 'https://app.example/cb'
const scope = 'index:orders-*:read'
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]()

async function say (line) {
  console.log(line)
  return (await lines.next()).value
}

async function decide (address) {
  return new URL(await say(`open ${address}`))
}

async function opens (token) {
  equal(await say(`token ${token.access_token}`), 'go on', 'what the store said')
}

function equal (found, wanted, what) {
  if (found !== wanted) throw new Error(`${what}: ${found} is not ${wanted}`)
}

const stories = {
  async oauth4webapi () {
    const oauth = await import('oauth4webapi')
    const server = await oauth.processDiscoveryResponse(
      new URL(issuer), await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2' }))
    const client = { client_id: clientId }
    const proof = oauth.ClientSecretPost(clientSecret)
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const ask = async pkce => {
      const address = new URL(server.authorization_endpoint)
      const challenge = pkce
        ? { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' }
        : {}
      for (const [name, value] of Object.entries({
        client_id: clientId, redirect_uri: callback, response_type: 'code', scope, state, ...challenge
      })) address.searchParams.set(name, value)
      return address
    }
    const exchange = async (back, verifier) => {
      const parameters = oauth.validateAuthResponse(server, client, back, state)
      const answer = await oauth.authorizationCodeGrantRequest(server, client, proof, parameters, callback, verifier)
      const token = await oauth.processAuthorizationCodeResponse(server, client, answer)
      equal(token.scope, scope, 'scope')
      await opens(token)
      return token
    }
    await exchange(await decide(await ask(false)), oauth.nopkce)
    const pushed = await oauth.processPushedAuthorizationResponse(server, client, await oauth.pushedAuthorizationRequest(
      server, client, proof, (await ask(true)).searchParams))
    const again = new URL(server.authorization_endpoint)
    again.searchParams.set('client_id', clientId)
    again.searchParams.set('request_uri', pushed.request_uri)
    await exchange(await decide(again), verifier)
    const token = await exchange(await decide(await ask(true)), verifier)
    const renewed = await oauth.processRefreshTokenResponse(
      server, client, await oauth.refreshTokenGrantRequest(server, client, proof, token.refresh_token))
    const active = async () => (await oauth.processIntrospectionResponse(
      server, client, await oauth.introspectionRequest(server, client, proof, renewed.access_token))).active
    equal(await active(), true, 'active')
    await opens(renewed)
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, proof, renewed.refresh_token))
    equal(await active(), false, 'active after revocation')

    const service = { client_id: serviceId }
    const own = oauth.ClientSecretBasic(serviceSecret)
    await opens(await oauth.processClientCredentialsResponse(
      server, service, await oauth.clientCredentialsGrantRequest(server, service, own, { scope })))

    const device = { client_id: deviceId }
    const begun = await oauth.processDeviceAuthorizationResponse(
      server, device, await oauth.deviceAuthorizationRequest(server, device, oauth.None(), { scope }))
    await decide(`${begun.verification_uri}#${begun.user_code}`)
    await opens(await oauth.processDeviceCodeResponse(
      server, device, await oauth.deviceCodeGrantRequest(server, device, oauth.None(), begun.device_code)))
  },

  async 'openid-client' () {
    const oauth = await import('openid-client')
    const known = { algorithm: 'oauth2' }
    const config = await oauth.discovery(new URL(issuer), clientId, clientSecret, undefined, known)
    const verifier = oauth.randomPKCECodeVerifier()
    const state = oauth.randomState()
    const plain = { redirect_uri: callback, scope, state }
    const challenge = { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' }
    await opens(await oauth.authorizationCodeGrant(
      config, await decide(oauth.buildAuthorizationUrl(config, plain)), { expectedState: state }))
    const pushed = await oauth.buildAuthorizationUrlWithPAR(config, { ...plain, ...challenge })
    await opens(await oauth.authorizationCodeGrant(
      config, await decide(pushed), { pkceCodeVerifier: verifier, expectedState: state }))
    const back = await decide(oauth.buildAuthorizationUrl(config, { ...plain, ...challenge }))
    const token = await oauth.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state })
    const renewed = await oauth.refreshTokenGrant(config, token.refresh_token)
    equal((await oauth.tokenIntrospection(config, renewed.access_token)).active, true, 'active')
    await opens(renewed)
    await oauth.tokenRevocation(config, renewed.refresh_token)
    equal((await oauth.tokenIntrospection(config, renewed.access_token)).active, false, 'active after revocation')

    const service = await oauth.discovery(new URL(issuer), serviceId, serviceSecret, undefined, known)
    await opens(await oauth.clientCredentialsGrant(service, { scope }))

    const device = await oauth.discovery(
      new URL(issuer), deviceId, { token_endpoint_auth_method: 'none' }, oauth.None(), known)
    const begun = await oauth.initiateDeviceAuthorization(device, { scope })
    await decide(`${begun.verification_uri}#${begun.user_code}`)
    const connected = await oauth.pollDeviceAuthorizationGrant(device, begun)
    equal(connected.scope, scope, 'scope of the device')
    await opens(connected)
  },

  // It knows codes without PKCE, refresh, revocation and client credentials, and nothing else.
  async 'simple-oauth2' () {
    const { AuthorizationCode, ClientCredentials } = await import('simple-oauth2')
    const auth = { tokenHost: issuer, tokenPath: '/token', authorizePath: '/authorize', revokePath: '/revoke' }
    for (const authorizationMethod of ['header', 'body']) {
      const client = new AuthorizationCode({
        client: { id: clientId, secret: clientSecret }, auth, options: { authorizationMethod }
      })
      const back = await decide(client.authorizeURL({ redirect_uri: callback, scope, state: 'abc' }))
      equal(back.searchParams.get('state'), 'abc', 'state')
      let token = await client.getToken({ code: back.searchParams.get('code'), redirect_uri: callback })
      equal(token.expired(), false, 'expired')
      token = await token.refresh()
      await opens(token.token)
      await token.revokeAll()
      const gone = await token.refresh().then(() => 'it was renewed', error => error.data?.payload?.error)
      equal(gone, 'invalid_grant', 'after revocation')
    }
    const own = { tokenHost: issuer, tokenPath: '/token' }
    const service = new ClientCredentials({ client: { id: serviceId, secret: serviceSecret }, auth: own })
    await opens((await service.getToken({ scope })).token)
  }
}

await stories[story]()
console.log('done')
process.exit(0)
