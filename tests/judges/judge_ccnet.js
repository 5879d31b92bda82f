// A CCNET host, cashcode-bv: node judge_ccnet.js PORT
require('./port');
const { CCNet } = require('cashcode-bv');
const { obey, say } = require('./words');

const device = new CCNet.BillValidator(process.argv[2]);
const name = bill => `${bill.amount} ${bill.code}`;
let answer = 'stack';
const answers = { stack: () => device.stack(), return: () => device.retrieve(), nothing: () => {} };

device.on('status', (status, more) => say('status', status, more));
device.on('escrow', async bill => {
  say('escrow', name(bill));
  await answers[answer]();
});
device.on('stacked', bill => say('credit', name(bill)));
device.on('returned', bill => say('returned', name(bill)));

obey({
  async connect() {
    // It gives the device a second for each step.
    while (!(await device.connect().catch(error => say('again', error.message)))) { /* once more */ }
    say('identified', device.info.model, device.info.serial);
    say('table', device.billTable.filter(bill => bill.amount).map(name).join(', '));
  },
  async begin() {
    await device.begin();
    const { enabled } = await device.execute(device.commands.GetStatus);
    say('enabled', enabled.filter(is => is).length);
  },
  end: () => device.end(),
  async answer(word) { answer = word; },
});
