// Filter box, verdict tiles, and details that open when their anchor is followed or the page is printed.
(function () {
  var box = document.getElementById("filter"), shown = document.getElementById("shown");
  var items = Array.prototype.slice.call(document.querySelectorAll("[data-verdict]"));
  var tiles = Array.prototype.slice.call(document.querySelectorAll("[data-filter]"));
  var verdict = "";
  function matches(item, words) {
    var text = (item.dataset.text + " " + item.dataset.verdict + " " + item.textContent).toLowerCase();
    return (!verdict || item.dataset.verdict === verdict) && words.every(function (word) { return text.indexOf(word) >= 0; });
  }
  function apply() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), count = 0, rows = 0;
    items.forEach(function (item) {
      var hit = matches(item, words);
      item.hidden = !hit;
      if (item.tagName === "TR") { rows += 1; count += hit ? 1 : 0; }
    });
    if (count === 1) { items.forEach(function (item) { if (!item.hidden && item.tagName === "DETAILS") { item.open = true; } }); }
    document.querySelectorAll("section[id^=group-]").forEach(function (group) {
      group.hidden = !group.querySelector("tbody tr:not([hidden])");
    });
    shown.textContent = count === rows ? rows + " rules" : count + " of " + rows + " rules";
    tiles.forEach(function (tile) { tile.setAttribute("aria-pressed", String(tile.dataset.filter === verdict)); });
  }
  function follow() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.hidden = false; target.open = true; target.scrollIntoView(); }
  }
  function openAll() { document.querySelectorAll("details.rule").forEach(function (d) { d.open = true; }); }
  tiles.forEach(function (tile) {
    tile.addEventListener("click", function () { verdict = verdict === tile.dataset.filter ? "" : tile.dataset.filter; apply(); });
  });
  box.addEventListener("input", apply);
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeprint", openAll);
  document.getElementById("open-all").addEventListener("click", openAll);
  apply();
  follow();
})();
