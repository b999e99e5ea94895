// OAuth clients of npm at the authorization server, driven by client_oauth.py: each story prints a
// line `open URL` where a person has to decide, and reads the address to which that person was sent
// back. Needs oauth4webapi, openid-client and simple-oauth2; NODE_EXTRA_CA_CERTS names the authority.
//
//     node client_oauth.mjs STORY ISSUER CLIENT_ID CLIENT_SECRET
import readline from 'node:readline'

const [story, issuer, clientId, clientSecret] = process.argv.slice(2)
const callback = 'https://app.example/cb'
const scope = 'index:orders-*:read'
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]()

async function decide (address) {
  console.log(`open ${address}`)
  return new URL((await lines.next()).value)
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
    const ask = async extra => {
      const address = new URL(server.authorization_endpoint)
      for (const [name, value] of Object.entries({
        client_id: clientId, redirect_uri: callback, response_type: 'code', scope, state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256'
      })) address.searchParams.set(name, value)
      return Object.assign(address, extra)
    }
    const back = await decide(await ask({}))
    const parameters = oauth.validateAuthResponse(server, client, back, state)
    const answer = await oauth.authorizationCodeGrantRequest(server, client, proof, parameters, callback, verifier)
    const token = await oauth.processAuthorizationCodeResponse(server, client, answer)
    equal(token.scope, scope, 'scope')
    const renewed = await oauth.processRefreshTokenResponse(
      server, client, await oauth.refreshTokenGrantRequest(server, client, proof, token.refresh_token))
    const seen = await oauth.processIntrospectionResponse(
      server, client, await oauth.introspectionRequest(server, client, proof, renewed.access_token))
    equal(seen.active, true, 'active')
    const pushed = await oauth.processPushedAuthorizationResponse(server, client, await oauth.pushedAuthorizationRequest(
      server, client, proof, (await ask({})).searchParams))
    const again = new URL(server.authorization_endpoint)
    again.searchParams.set('client_id', clientId)
    again.searchParams.set('request_uri', pushed.request_uri)
    oauth.validateAuthResponse(server, client, await decide(again), state)
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, proof, renewed.refresh_token))
    return token
  },

  async 'openid-client' () {
    const oauth = await import('openid-client')
    const config = await oauth.discovery(new URL(issuer), clientId, clientSecret, undefined, { algorithm: 'oauth2' })
    const verifier = oauth.randomPKCECodeVerifier()
    const state = oauth.randomState()
    const back = await decide(oauth.buildAuthorizationUrl(config, {
      redirect_uri: callback, scope, state, code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256'
    }))
    const token = await oauth.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state })
    const renewed = await oauth.refreshTokenGrant(config, token.refresh_token)
    equal((await oauth.tokenIntrospection(config, renewed.access_token)).active, true, 'active')
    await oauth.tokenRevocation(config, renewed.refresh_token)
    equal((await oauth.tokenIntrospection(config, renewed.access_token)).active, false, 'active after revocation')
    const device = await oauth.discovery(new URL(issuer), process.env.DEVICE_CLIENT, { token_endpoint_auth_method: 'none' }, oauth.None(), { algorithm: 'oauth2' })
    const begun = await oauth.initiateDeviceAuthorization(device, { scope })
    await decide(`${begun.verification_uri}#${begun.user_code}`)
    const connected = await oauth.pollDeviceAuthorizationGrant(device, begun)
    equal(connected.scope, scope, 'scope of the device')
    return connected
  },

  async 'simple-oauth2' () {
    const { AuthorizationCode } = await import('simple-oauth2')
    const client = new AuthorizationCode({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: issuer, tokenPath: '/token', authorizePath: '/authorize', revokePath: '/revoke' }
    })
    const back = await decide(client.authorizeURL({ redirect_uri: callback, scope, state: 'abc' }))
    equal(back.searchParams.get('state'), 'abc', 'state')
    let token = await client.getToken({ code: back.searchParams.get('code'), redirect_uri: callback })
    equal(token.expired(), false, 'expired')
    token = await token.refresh()
    return token.token
  }
}

const token = await stories[story]()
console.log(`token ${token.access_token}`)
process.exit(0)
