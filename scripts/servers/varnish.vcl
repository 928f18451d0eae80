# varnish for the tests, in front of the nginx of the tests: the cache of a company or a CDN, as its defaults have it.
vcl 4.1;

backend origin {
  .host = "127.0.0.1";
  .port = "{backend}";
}
backend absent none;

sub vcl_recv {
  if (req.method == "PURGE") {
    return (purge);
  }
  # An origin that cannot be reached: varnish responds with 503.
  if (req.http.X-Fail) {
    set req.backend_hint = absent;
    return (pass);
  }
  set req.backend_hint = origin;
}

sub vcl_backend_response {
  # The lifetime has ended, the time for `stale-while-revalidate` has not.
  if (bereq.url ~ "^/cached/overdue/") {
    set beresp.ttl = 1ms;
  }
}

sub vcl_deliver {
  if (obj.uncacheable) {
    set resp.http.X-Cache = "pass";
  } elseif (obj.hits > 0) {
    set resp.http.X-Cache = "hit";
  } else {
    set resp.http.X-Cache = "miss";
  }
}
