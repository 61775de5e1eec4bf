def show(view, seat, lang):
    return ()
