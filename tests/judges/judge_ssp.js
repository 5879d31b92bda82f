// An SSP host whose packets are encrypted, encrypted-smiley-secure-protocol: node judge_ssp.js PORT
require('./port');
const crypto = require('crypto');
const SSP = require('encrypted-smiley-secure-protocol');
const { obey, say } = require('./words');

// It takes the primes of its key agreement, two bytes each, from OpenSSL's Diffie-Hellman, which since release 3 makes
// none that small: generator, modulus and secret of every agreement are these.
const PRIMES = [0xfff1, 0xffef, 0xffd9];
let taken = 0;
crypto.createDiffieHellman = () => ({
  getPrime: () => Buffer.from([PRIMES[taken % 3] >> 8, PRIMES[taken++ % 3] & 0xff]),
});

const host = new SSP({ id: 0, timeout: 1000, fixedKey: '0123456701234567' });
let table = [];
let answer = 'accept';

const execute = host.exec.bind(host);
host.exec = async (command, args) => {
  const told = await execute(command, args);
  if (!told.success) say('refused', command, told.status || told.error);
  return told;
};

const ask = async (command, args) => {
  const told = await host.command(command, args);
  if (!told.success) throw new Error(`${command} ${told.status || told.error}`);
  return told.info;
};

const NOTES = ['READ_NOTE', 'CREDIT_NOTE', 'NOTE_CLEARED_FROM_FRONT', 'NOTE_CLEARED_TO_CASHBOX', 'FRAUD_ATTEMPT'];
const EVENTS = ['SLAVE_RESET', 'DISABLED', 'NOTE_STACKING', 'NOTE_STACKED', 'NOTE_REJECTING', 'NOTE_REJECTED'];
for (const event of EVENTS) host.on(event, () => say(event));
for (const event of NOTES) host.on(event, ({ channel }) => say(event, channel ? table[channel - 1] : 'unknown'));
host.on('READ_NOTE', ({ channel }) => {
  // Its next poll accepts.
  if (channel && answer === 'reject') host.command('REJECT_BANKNOTE');
});
host.on('NOTE_REJECTED', async () => say('why', (await ask('LAST_REJECT_CODE')).name));

obey({
  open: () => host.open(process.argv[2]),
  async connect() {
    await host.poll(false);
    host.enabled = false;
    host.aesEncryption = host.keys.key = null;
    await ask('SYNC');
    await ask('HOST_PROTOCOL_VERSION', { version: 6 });
    await host.initEncryption();
    say('encrypted', host.keys.key !== null);
    say('serial', (await ask('GET_SERIAL_NUMBER')).serial_number);
    const setup = await ask('SETUP_REQUEST');
    const countries = setup.expanded_channel_country_code;
    table = setup.expanded_channel_value.map((value, channel) => `${value} ${countries[channel]}`);
    say('table', table.join(', '));
    await ask('SET_CHANNEL_INHIBITS', { channels: Array.from({ length: 16 }, (_, channel) => (channel < table.length ? 1 : 0)) });
    await host.enable();
  },
  async answer(word) { answer = word; },
});
