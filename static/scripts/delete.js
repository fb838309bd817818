// Takes the token out of the address: a fragment stays in the browser, and here leaves its history.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const field = document.getElementById("token");
if (token && field) {
  field.value = token;
  history.replaceState(null, "", location.pathname);
}
